// The protocol of execwire as pure data: types, limits, error codes and checks. No `node:` import, so it also runs in a
// browser.

export type { FrameLimits } from "./check-frame.ts";
export { checkClientMessage, checkParams, checkResult, checkServerMessage, isMethod } from "./check-message.ts";
export { checkSandbox, type SandboxLimits } from "./check-sandbox.ts";
export { checkInteger, checkOneOf, checkText, ifPresent, type Problem } from "./check-value.ts";
export { decode, encode, encodeEvent } from "./codec.ts";
export type { ErrorCode, ErrorData, SpawnFailureKind } from "./errors.ts";
export type {
  ClosedEvent,
  Delivery,
  ExitedEvent,
  ExitReason,
  ExitResult,
  GapNotice,
  OutputEvent,
  ProcessEvent,
  ResizedEvent,
  Seq,
  StreamName,
  TerminalSize,
} from "./events.ts";
export {
  checkLimits,
  type Limits,
  limits,
  MAX_TIMER_MS,
  MAX_WINDOW_BYTES,
  MIN_FRAME_BYTES,
  MIN_PING_MS,
  PATH_MAX_BYTES,
} from "./limits.ts";
export { loginShell, type ShellLanguage } from "./login-shell.ts";
export {
  type AckMessage,
  type ChangeMessage,
  type ClientMessage,
  type EventMessage,
  type ExitMessage,
  type FailedMessage,
  type GapMessage,
  type HelloMessage,
  type MethodName,
  type Methods,
  type NetworkAnswerMessage,
  type NetworkDecisionMessage,
  type NetworkRequestMessage,
  type NetworkRequestOverMessage,
  type NetworkWishes,
  type PingMessage,
  type PongMessage,
  PROTOCOL_VERSION,
  type ProcessAddress,
  type ReplyMessage,
  type RequestMessage,
  type ServerMessage,
  SUBPROTOCOL,
  type WelcomeMessage,
  type WireError,
} from "./messages.ts";
export type {
  ManagedNetwork,
  NetworkAnswer,
  NetworkDecision,
  NetworkProtocol,
  NetworkRequest,
} from "./network.ts";
export { type Present, present } from "./present.ts";
export type {
  Activity,
  ActivityState,
  ArgvOmitted,
  DeliveryMode,
  EnvPolicy,
  KillScope,
  PipeHolder,
  ProcessInfo,
  ProcessSpec,
  ProcessState,
  ReadOptions,
  ReadResult,
  SignalName,
  TtyOptions,
  WriteStatus,
} from "./process.ts";
export { isByteString, isIllFormed, toWellFormed } from "./raw-bytes.ts";
export type { FileAccess, FileRule, NamedPath, ResourceBounds, SandboxPolicy } from "./sandbox.ts";
export { utf8Bytes, utf8Prefix } from "./utf8.ts";
export {
  type Arguments,
  checkGrace,
  checkReadOptions,
  checkSignal,
  checkSize,
  checkSpec,
  checkStart,
  checkTermination,
  checkWrite,
  type SpecLimits,
} from "./validate.ts";
