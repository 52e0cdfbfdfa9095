/// <reference lib="esnext.disposable" preserve="true" />
// The client for web pages and other platforms with a global WebSocket. Must not import Node modules.
import { SUBPROTOCOL } from "../protocol/index.ts";
import type { ClientOptions } from "./client/client-options.ts";
import { connectOver } from "./client/connect.ts";
import type { RemoteBackend } from "./client/remote-backend.ts";
import { openPlatformWebSocket } from "./transport/websocket/websocket-browser.ts";

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
export type { ClientOptions, SessionRenewed } from "./client/client-options.ts";
export type { Link, LinkState } from "./client/link.ts";
export { RemoteBackend } from "./client/remote-backend.ts";
export type { Cancel, Clock } from "./clock.ts";
export { ExecwireError } from "./errors.ts";
export type { DeliveryIterator } from "./log/iterate.ts";
export type { Hold, LogView } from "./log/log-view.ts";
export type { Backend, CloseOptions, StartOptions } from "./process/backend.ts";
export { type Line, type LinesOptions, lines } from "./process/lines.ts";
export type { NetworkController, NetworkHandler } from "./process/network-controller.ts";
export type { ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "./process/port.ts";
export { type EventsOptions, type IterateOptions, Process } from "./process/process.ts";
export { type TextOptions, text } from "./process/text.ts";
export { type InputChunk, type WriteFromOptions, writeFrom, writeOrThrow } from "./process/write-from.ts";

/** Connects to `ws://` or `wss://`; the token travels in the first message, not in the URL. See `connect` of the Node entry. */
export function connect(url: string, options: ClientOptions = {}): Promise<RemoteBackend> {
  return connectOver(openPlatformWebSocket(url, SUBPROTOCOL), options);
}
