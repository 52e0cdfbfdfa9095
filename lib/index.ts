// The public API. What is not exported here is internal.
export type {
  ClosedEvent,
  Delivery,
  DeliveryMode,
  EnvPolicy,
  ErrorCode,
  ErrorData,
  ExitedEvent,
  ExitReason,
  ExitResult,
  GapNotice,
  KillScope,
  Limits,
  OutputEvent,
  ProcessEvent,
  ProcessInfo,
  ProcessMetadata,
  ProcessSpec,
  ProcessState,
  ReadOptions,
  ReadResult,
  ResizedEvent,
  Seq,
  SignalName,
  SpawnFailureKind,
  StreamName,
  TerminalSize,
  TtyOptions,
  WriteStatus,
} from "../protocol/index.ts";
export { limits } from "../protocol/index.ts";
export type { LinkState } from "./client/link.ts";
export type { ClientOptions, RemoteBackend } from "./client/remote-backend.ts";
export { connect, type ServerAddress } from "./connect.ts";
export { ExecwireError } from "./errors.ts";
export { createSupervisor, type Supervisor, type SupervisorOptions } from "./local/supervisor.ts";
export type { DeliveryIterator } from "./log/iterate.ts";
export type { Backend, CloseOptions } from "./process/backend.ts";
export type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "./process/port.ts";
export { type EventsOptions, type IterateOptions, Process } from "./process/process.ts";
export { type Line, type LinesOptions, lines, type TextOptions, text } from "./process/text.ts";
export type { Auth } from "./server/auth.ts";
export { type ExecwireServer, type ListenAddress, type ServeOptions, serve } from "./server/server.ts";
export { memoryPair } from "./transport/memory-pair.ts";
export { streamTransport } from "./transport/stream.ts";
export type { OpenTransport, Transport, TransportHandlers } from "./transport/transport.ts";
