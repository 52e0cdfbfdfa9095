/// <reference lib="esnext.disposable" preserve="true" />
// The public API. What is not exported here is internal.
export type {
  Activity,
  ActivityState,
  ArgvOmitted,
  ClosedEvent,
  Delivery,
  DeliveryMode,
  EnvPolicy,
  ErrorCode,
  ErrorData,
  ExitedEvent,
  ExitReason,
  ExitResult,
  FileAccess,
  FileRule,
  GapNotice,
  KillScope,
  Limits,
  ManagedNetwork,
  NamedPath,
  NetworkAnswer,
  NetworkDecision,
  NetworkProtocol,
  NetworkRequest,
  OutputEvent,
  PipeHolder,
  ProcessEvent,
  ProcessInfo,
  ProcessSpec,
  ProcessState,
  ReadOptions,
  ReadResult,
  ResizedEvent,
  ResourceBounds,
  SandboxPolicy,
  Seq,
  SignalName,
  SpawnFailureKind,
  StreamName,
  TerminalSize,
  TtyOptions,
  WriteStatus,
} from "../protocol/index.ts";
export { limits } from "../protocol/index.ts";
export type { ClientOptions, SessionRenewed } from "./client/client-options.ts";
export type { Link, LinkState } from "./client/link.ts";
export type { RemoteBackend } from "./client/remote-backend.ts";
export type { Cancel, Clock } from "./clock.ts";
export type { CodexBackend } from "./codex/client/codex-backend.ts";
export type { CodexLink } from "./codex/client/codex-link.ts";
export { type CodexClientOptions, connectCodex } from "./codex/client/connect-codex.ts";
export { type CodexDialectOptions, codexDialect, fileHelperRules } from "./codex/server/codex-dialect.ts";
export { type ConnectOptions, connect, type ServerAddress } from "./connect.ts";
export { ExecwireError } from "./errors.ts";
export type { RunChunk, RunStream } from "./exec/run/capture.ts";
export type { CapturedOutput, CapturedOutputJson, Omission } from "./exec/run/captured-output.ts";
export type { RunResult } from "./exec/run/result.ts";
export { type Run, RunFailed, run, runOrThrow, runShell, startRun } from "./exec/run/run.ts";
export type { Drain } from "./exec/run/run-deadlines.ts";
export { type RunOptions, runDefaults } from "./exec/run/run-options.ts";
export { execText } from "./exec/sessions/exec-text.ts";
export type { PathMapping } from "./exec/sessions/path-mapping.ts";
export { type ExecLimits, execLimits } from "./exec/sessions/session-limits.ts";
export type {
  ExecFacts,
  ExecFailure,
  ExecResult,
  ExecSessionInfo,
  ExecSignal,
  ExecStart,
  ExecStop,
  ExecWrite,
  OutputBudget,
  YieldOptions,
} from "./exec/sessions/session-types.ts";
export { type ExecSessions, type ExecSessionsOptions, openExecSessions } from "./exec/sessions/sessions.ts";
export { createSupervisor, type Supervisor, type SupervisorOptions } from "./local/supervisor.ts";
export type { DeliveryIterator } from "./log/iterate.ts";
export type { Hold, LogView } from "./log/log-view.ts";
export type { Backend, CloseOptions, StartOptions } from "./process/backend.ts";
export { type Line, type LinesOptions, lines } from "./process/lines.ts";
export type { NetworkController, NetworkHandler } from "./process/network-controller.ts";
export type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "./process/port.ts";
export { type EventsOptions, type IterateOptions, Process } from "./process/process.ts";
export { type TextOptions, text } from "./process/text.ts";
export { type InputChunk, type WriteFromOptions, writeFrom, writeOrThrow } from "./process/write-from.ts";
export type { Auth } from "./server/auth.ts";
export type { Dialect } from "./server/dialect.ts";
export { type ExecwireServer, type ListenAddress, type ServeOptions, serve } from "./server/server.ts";
export type { OnSupervisorDeath } from "./spawn/guard/guard.ts";
export type { SpawnerName } from "./spawn/load-spawner.ts";
export { memoryPair } from "./transport/memory-pair.ts";
export { streamTransport } from "./transport/stream.ts";
export type { OpenTransport, Transport, TransportHandlers } from "./transport/transport.ts";
