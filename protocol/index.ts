// The language of execwire as pure data: types, limits, error codes and checks. No `node:` import, so it runs in a browser.
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
export { type Limits, limits } from "./limits.ts";
export type {
  DeliveryMode,
  EnvPolicy,
  KillScope,
  ProcessInfo,
  ProcessMetadata,
  ProcessSpec,
  ProcessState,
  ReadOptions,
  ReadResult,
  SignalName,
  TtyOptions,
  WriteStatus,
} from "./process.ts";
export { checkInteger, checkSize, checkSpec, checkWriteId, type Problem } from "./validate.ts";
