// What travels on a connection, as types. protocol/README.md is the normative text; this file is its TypeScript.
import type { ErrorCode, ErrorData } from "./errors.ts";
import type { ExitedEvent, GapNotice, ProcessEvent, Seq, TerminalSize } from "./events.ts";
import type {
  Activity,
  DeliveryMode,
  KillScope,
  PipeHolder,
  ProcessInfo,
  ProcessSpec,
  ReadOptions,
  ReadResult,
  SignalName,
  WriteStatus,
} from "./process.ts";

/** Version of the protocol. A peer of another major version is refused. */
export const PROTOCOL_VERSION = 1;

/** Name that a client must offer in Sec-WebSocket-Protocol. */
export const SUBPROTOCOL = "execwire.v1";

/** One life of one process. A call that names another life than the present one is refused. */
export interface ProcessAddress {
  readonly processId: string;
  readonly incarnation: string;
}

/** The methods: what a request asks, what its reply answers. */
export interface Methods {
  /** With `subscribe`, the subscription begins with the process: nothing it prints can be evicted before. */
  "process/start": {
    params: { spec: ProcessSpec; incarnation: string; subscribe?: DeliveryMode };
    result: { process: ProcessInfo; channel?: number };
  };
  "process/attach": { params: { processId: string }; result: { process: ProcessInfo } };
  /**
   * With `limit`, a page: so many at most, fewer where they are large, from the one that follows `after`. `next` is the `after`
   * of the next page; absent at the end.
   */
  "process/list": {
    params: { limit?: number; after?: string };
    result: { processes: readonly ProcessInfo[]; next?: string };
  };
  /** `acked`: how far a lossless reader has read what it already got; default `afterSeq`. */
  "process/subscribe": {
    params: ProcessAddress & { afterSeq: Seq; delivery: DeliveryMode; acked?: Seq };
    result: { channel: number };
  };
  "process/unsubscribe": { params: ProcessAddress; result: Record<never, never> };
  "process/read": { params: ProcessAddress & ReadOptions; result: ReadResult };
  "process/write": {
    params: ProcessAddress & { writeId?: string; chunk: Uint8Array };
    result: { status: WriteStatus };
  };
  "process/closeStdin": { params: ProcessAddress; result: { status: WriteStatus } };
  "process/signal": {
    params: ProcessAddress & { signal: SignalName; scope?: KillScope };
    result: Record<never, never>;
  };
  "process/resize": { params: ProcessAddress & { size: TerminalSize }; result: Record<never, never> };
  "process/terminate": {
    params: ProcessAddress & { graceMs?: number; scope?: KillScope };
    result: { running: boolean };
  };
  "process/holders": { params: ProcessAddress; result: { holders: readonly PipeHolder[] } };
  "process/activity": { params: ProcessAddress; result: { activity: Activity } };
  "changes/watch": { params: Record<never, never>; result: Record<never, never> };
  "session/close": { params: { graceMs?: number }; result: Record<never, never> };
}

/** Name of a method. */
export type MethodName = keyof Methods;

/** A refusal or breakage on the wire. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: ErrorData;
}

/** First message of a client. */
export interface HelloMessage {
  readonly type: "hello";
  readonly version: number;
  /** The server's token, unless the transport carried it. */
  readonly token?: string;
  /** A session to go on with. The secret is what counts; it is given once, in `welcome`. */
  readonly resume?: {
    readonly sessionId: string;
    readonly secret: string;
    /** Requests that will be sent again: the server may forget the replies to all others. */
    readonly pending: readonly number[];
  };
}

/** A call. Ids are 1, 2, 3 ... per session and stay the same when a request is sent again after a reconnect. */
export interface RequestMessage {
  readonly type: "request";
  readonly id: number;
  /** Ids of replies that arrived since the last request: the server may forget them. */
  readonly acked: readonly number[];
  readonly method: MethodName;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A lossless subscriber has taken everything up to `seq`; what it has not bounds what the server sends ahead. */
export interface AckMessage {
  readonly type: "ack";
  readonly channel: number;
  readonly seq: Seq;
}

/** Asks for a pong; sent by either side. Browsers cannot see protocol pings. */
export interface PingMessage {
  readonly type: "ping";
}

/** Answers a ping. */
export interface PongMessage {
  readonly type: "pong";
}

/** What a client sends. */
export type ClientMessage = HelloMessage | RequestMessage | AckMessage | PingMessage | PongMessage;

/** First message of a server. */
export interface WelcomeMessage {
  readonly type: "welcome";
  readonly version: number;
  readonly sessionId: string;
  /** Capability to resume this session; never shown elsewhere. */
  readonly secret: string;
  /** Whether the session is the one asked for. */
  readonly resumed: boolean;
  readonly limits: {
    /** How long the session outlives its connection. */
    readonly sessionTtlMs: number;
    readonly pingMs: number;
    readonly frameBytes: number;
    /** Output sent ahead of the acknowledgement of a lossless subscriber. */
    readonly windowBytes: number;
  };
}

/** Answer to a request. */
export type ReplyMessage =
  | { readonly type: "reply"; readonly id: number; readonly result: unknown }
  | { readonly type: "reply"; readonly id: number; readonly error: WireError };

/** An event of a subscribed process. The same frame goes to all its viewers. */
export type EventMessage = { readonly type: "event"; readonly channel: number; readonly event: ProcessEvent };

/** The process has exited, said ahead of what the viewer has not read yet; the event itself still comes in its place. */
export type ExitMessage = { readonly type: "exit"; readonly channel: number; readonly event: ExitedEvent };

/** What this viewer, and perhaps no other, has lost. */
export type GapMessage = { readonly type: "gap"; readonly channel: number; readonly gap: GapNotice };

/** The log of a subscribed process will never be closed. */
export type FailedMessage = { readonly type: "failed"; readonly channel: number; readonly error: WireError };

/** A process changed its state; sent after `changes/watch`. */
export type ChangeMessage = { readonly type: "change"; readonly process: ProcessInfo };

/** What a server sends. */
export type ServerMessage =
  | WelcomeMessage
  | ReplyMessage
  | EventMessage
  | ExitMessage
  | GapMessage
  | FailedMessage
  | ChangeMessage
  | PingMessage
  | PongMessage;
