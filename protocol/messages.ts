// The messages on a connection, as types. protocol/README.md is the normative text; this file is its TypeScript.
import type { ErrorCode, ErrorData } from "./errors.ts";
import type { ExitedEvent, GapNotice, ProcessEvent, Seq, TerminalSize } from "./events.ts";
import type { NetworkAnswer, NetworkDecision, NetworkRequest } from "./network.ts";
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

/** Version of the protocol. A peer with another major version is refused. */
export const PROTOCOL_VERSION = 1;

/** The subprotocol that a client must offer in Sec-WebSocket-Protocol. */
export const SUBPROTOCOL = "execwire.v1";

/** Address of one incarnation of a process. A call on another incarnation than the current one is refused. */
export interface ProcessAddress {
  readonly processId: string;
  readonly incarnation: string;
}

/** What a client wants to do about the managed network of a process that it starts: decide, and receive the decisions. */
export interface NetworkWishes {
  readonly requests?: boolean;
  readonly decisions?: boolean;
}

/** The methods, with the params of their requests and the results of their replies. */
export interface Methods {
  /** With `subscribe`, the subscription exists before the process, so that none of its output can be evicted unread. */
  "process/start": {
    params: { spec: ProcessSpec; incarnation: string; subscribe?: DeliveryMode; network?: NetworkWishes };
    result: { process: ProcessInfo; channel?: number };
  };
  "process/attach": { params: { processId: string }; result: { process: ProcessInfo } };
  /**
   * With `limit`, returns a page of at most this many processes, fewer where they are large, starting after `after`. `next` is
   * the `after` of the next page; absent on the last page.
   */
  "process/list": {
    params: { limit?: number; after?: string };
    result: { processes: readonly ProcessInfo[]; next?: string };
  };
  /** `acked` is how far a lossless reader has read of what it already received; default `afterSeq`. */
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

/** An error on the wire. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: ErrorData;
}

/** First message of a client. */
export interface HelloMessage {
  readonly type: "hello";
  readonly version: number;
  /** The server's token, unless the transport has carried it. */
  readonly token?: string;
  /** A session to resume. The secret, which is sent only in `welcome`, is the capability to do so. */
  readonly resume?: {
    readonly sessionId: string;
    readonly secret: string;
    /** Unanswered requests, which will be sent again; the server may drop the replies to all others. */
    readonly pending: readonly number[];
  };
}

/** A call. Ids are 1, 2, 3 and so on per session, and stay the same when a request is sent again after a reconnect. */
export interface RequestMessage {
  readonly type: "request";
  readonly id: number;
  /** Ids of replies that arrived since the last request; the server may drop them. */
  readonly acked: readonly number[];
  readonly method: MethodName;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A lossless subscriber has read everything up to `seq`. Unacknowledged output limits how far ahead the server sends. */
export interface AckMessage {
  readonly type: "ack";
  readonly channel: number;
  readonly seq: Seq;
}

/** Asks for a pong; sent by either side. Needed because browsers do not expose WebSocket pings. */
export interface PingMessage {
  readonly type: "ping";
}

/** Answers a ping. */
export interface PongMessage {
  readonly type: "pong";
}

/** Answers a network request on the connection on which it was sent. An answer to none that is open is ignored. */
export interface NetworkAnswerMessage {
  readonly type: "networkAnswer";
  readonly id: number;
  readonly answer: NetworkAnswer;
}

/** Messages from the client. */
export type ClientMessage =
  | HelloMessage
  | RequestMessage
  | AckMessage
  | NetworkAnswerMessage
  | PingMessage
  | PongMessage;

/** First message of a server. */
export interface WelcomeMessage {
  readonly type: "welcome";
  readonly version: number;
  readonly sessionId: string;
  /** Capability to resume this session; sent only here. */
  readonly secret: string;
  /** Whether this is the session that the client asked to resume. */
  readonly resumed: boolean;
  readonly limits: {
    /** Milliseconds that the session outlives its connection. */
    readonly sessionTtlMs: number;
    readonly pingMs: number;
    readonly frameBytes: number;
    /** Bytes of output sent ahead of a lossless subscriber's acknowledgement. */
    readonly windowBytes: number;
  };
}

/** Reply to a request. */
export type ReplyMessage =
  | { readonly type: "reply"; readonly id: number; readonly result: unknown }
  | { readonly type: "reply"; readonly id: number; readonly error: WireError };

/** An event of a subscribed process. All its viewers get the same frame. */
export type EventMessage = { readonly type: "event"; readonly channel: number; readonly event: ProcessEvent };

/** The process has exited: sent ahead of output that the viewer has not read yet. The event itself still follows in its place. */
export type ExitMessage = { readonly type: "exit"; readonly channel: number; readonly event: ExitedEvent };

/** A gap for this viewer; other viewers may not have lost anything. */
export type GapMessage = { readonly type: "gap"; readonly channel: number; readonly gap: GapNotice };

/** The log of a subscribed process will never be closed. */
export type FailedMessage = { readonly type: "failed"; readonly channel: number; readonly error: WireError };

/** A process has changed its state; sent after `changes/watch`. */
export type ChangeMessage = { readonly type: "change"; readonly process: ProcessInfo };

/** Asks the client that started a process about a connection of it. Ids are unique per connection. */
export type NetworkRequestMessage = {
  readonly type: "networkRequest";
  readonly id: number;
  readonly incarnation: string;
  readonly request: NetworkRequest;
};

/** The request needs no answer any more. */
export type NetworkRequestOverMessage = { readonly type: "networkRequestOver"; readonly id: number };

/** A decision about a connection. Dropped while the client reads too slowly or is not connected. */
export type NetworkDecisionMessage = {
  readonly type: "networkDecision";
  readonly incarnation: string;
  readonly decision: NetworkDecision;
};

/** Messages from the server. */
export type ServerMessage =
  | WelcomeMessage
  | ReplyMessage
  | EventMessage
  | ExitMessage
  | GapMessage
  | FailedMessage
  | ChangeMessage
  | NetworkRequestMessage
  | NetworkRequestOverMessage
  | NetworkDecisionMessage
  | PingMessage
  | PongMessage;
