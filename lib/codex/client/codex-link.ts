// The client's connection to a Codex exec-server: the handshake, and the session that is resumed on each new socket.
import type { Observable } from "rxjs";
import type { Limits } from "../../../protocol/index.ts";
import { connectionLost, type LinkState, ReconnectingConnection } from "../../client/reconnecting.ts";
import type { Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import { CLOSE } from "../../transport/transport.ts";
import type { TextTransport } from "../../transport/websocket/websocket-client.ts";
import { CODE, CodexError } from "../codex-error.ts";
import { type Envelope, encodeCall, encodeError, parseEnvelope } from "../envelope.ts";
import { environmentOf, initializeResult, type RemoteEnvironment } from "./answers.ts";
import { errorOf } from "./refusals.ts";

/** How to connect, and the callbacks of the link. */
export interface CodexLinkOptions {
  readonly open: () => Promise<TextTransport>;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Called with every message after the handshake, except requests of the server, which the link refuses. */
  readonly onMessage: (message: Envelope) => void;
  /** Connected or reconnected; calls may be sent from now on. */
  readonly onConnected: () => void;
  /** Closed for good. */
  readonly onClosed: (reason: ExecwireError) => void;
}

/** The id of `initialize`, on every socket; other calls count from 1. */
const INITIALIZE = 0;
/** The largest message that the exec-server accepts (measured); for a larger one it drops the connection without an error. */
const MESSAGE_BYTES = 64 * 1024 * 1024 - 1024;

/** A connection that reconnects and resumes its session. */
export class CodexLink {
  readonly state$: Observable<LinkState>;
  /** Resolves when first connected; rejects when that fails. */
  readonly ready: Promise<void>;
  readonly #options: CodexLinkOptions;
  readonly #connection: ReconnectingConnection<TextTransport>;
  #sessionId: string | undefined;
  #environment: RemoteEnvironment | undefined;
  #isPaused = false;

  constructor(options: CodexLinkOptions) {
    this.#options = options;
    const { open, clock, limits, onConnected, onClosed } = options;
    this.#connection = new ReconnectingConnection<TextTransport>({
      open,
      clock,
      limits,
      onConnected,
      onClosed,
      greet: (transport) => this.#greet(transport),
      onFrame: (frame) => this.#receive(frame),
      ping: (transport) => this.#ping(transport),
      // The exec-server drops connections without a reason, so only the next attempt shows whether the error is fatal.
      fatalCloseError: () => undefined,
    });
    this.state$ = this.#connection.state$;
    this.ready = this.#connection.ready;
    this.#connection.connect();
  }

  get state(): LinkState {
    return this.#connection.state;
  }

  /** Whether messages are sent immediately. */
  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /** What the server reported about itself, if anything. */
  get environment(): RemoteEnvironment | undefined {
    return this.#environment;
  }

  /** Sets it from the result of `environment/info`, if the handshake did not include it. */
  set environmentInfo(info: unknown) {
    this.#environment ??= environmentOf(info);
  }

  /** Sends now, or not at all while disconnected. Throws LIMIT_EXCEEDED for a message that the server would not accept. */
  send(method: string, params: unknown, id: number): void {
    if (!this.isOpen) return;
    const frame = encodeCall(method, params, id);
    if (frame.length > MESSAGE_BYTES) {
      const text = `a message of ${frame.length} bytes exceeds the server's limit of ${MESSAGE_BYTES}; send less at a time`;
      throw new ExecwireError("LIMIT_EXCEEDED", text, { data: { limit: "messageBytes" } });
    }
    this.#connection.send(frame);
  }

  /** Whether reading is paused. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Pauses or resumes reading. */
  setPaused(paused: boolean): void {
    if (paused === this.#isPaused) return;
    this.#isPaused = paused;
    if (paused) this.#connection.transport?.pause();
    else this.#connection.transport?.resume();
  }

  /** Reconnects, so that later calls no longer wait behind a blocked one. */
  reopen(): void {
    this.setPaused(false);
    this.#connection.reopen();
  }

  /** Ends the connection for good. */
  close(): void {
    this.setPaused(false);
    this.#connection.end(new ExecwireError("CLOSED", "the client was closed"));
  }

  /** The server violated the protocol: closes the connection, since nothing it sends can be relied on. */
  fail(violation: ExecwireError): void {
    this.#connection.end(violation, CLOSE.protocol, violation.message.slice(0, 120));
  }

  #greet(transport: TextTransport): void {
    this.#isPaused = false;
    const params = { clientName: "execwire", resumeSessionId: this.#sessionId ?? null };
    transport.send(encodeCall("initialize", params, INITIALIZE));
  }

  #ping(transport: TextTransport): void {
    // While reading is paused, no pong can be read either.
    if (this.#isPaused) this.#connection.noteAlive();
    else transport.ping?.(0);
  }

  #receive(frame: Uint8Array): void {
    try {
      const message = parseEnvelope(frame);
      if (message.kind === "request") return this.#refuse(message.id, message.method);
      if (this.isOpen) return this.#options.onMessage(message);
      if (message.kind === "notification" || message.id !== String(INITIALIZE)) return;
      if (message.kind === "error") this.#onRefused(errorOf(message.error));
      else this.#onInitialized(message.result);
    } catch (error) {
      if (error instanceof ExecwireError) return this.fail(error);
      const reason = error instanceof Error ? error.message : String(error);
      this.fail(
        new ExecwireError("PROTOCOL_VIOLATION", `the server sent an invalid message: ${reason}`, { cause: error }),
      );
    }
  }

  #onInitialized(result: unknown): void {
    const { sessionId, environmentInfo } = initializeResult.decode(result);
    if (this.#sessionId !== undefined && sessionId !== this.#sessionId)
      return this.#endUnknown(`the server started session ${sessionId}`);
    this.#sessionId = sessionId;
    this.#environment ??= environmentOf(environmentInfo);
    this.#connection.transport?.send(encodeCall("initialized", {}));
    this.#connection.onWelcome(this.#options.limits.pingMs);
  }

  #onRefused(error: { readonly code: number; readonly message: string }): void {
    // The lost socket still holds the session; the server will detach it soon, so try again.
    if (error.code === CODE.attached) return this.#connection.reopen();
    if (this.#sessionId !== undefined && /unknown session/i.test(error.message)) return this.#endUnknown(error.message);
    this.#connection.end(connectionLost("refused", `the server refuses the connection: ${error.message}`));
  }

  #endUnknown(why: string): void {
    const message = `session ${this.#sessionId} has ended, and its processes with it: ${why}`;
    this.#connection.end(connectionLost("session-unknown", message));
  }

  /** The server sends requests only for features that this client does not use. */
  #refuse(id: string, method: string): void {
    this.#connection.send(encodeError(id, new CodexError(CODE.unknownMethod, `unknown method ${method}`)));
  }
}
