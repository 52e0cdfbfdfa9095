// The link of execwire's own protocol: the handshake, the session that outlives a socket, and the closes after which a
// reconnect cannot succeed. `reconnecting.ts` does the reconnecting.
import type { Observable } from "rxjs";
import {
  type ClientMessage,
  checkServerMessage,
  decode,
  encode,
  type Limits,
  PROTOCOL_VERSION,
  present,
  type ServerMessage,
  type WelcomeMessage,
} from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { CLOSE, type OpenTransport, type Transport } from "../transport/transport.ts";
import { connectionLost, type LinkState, ReconnectingConnection } from "./reconnecting.ts";

export type { LinkState } from "./reconnecting.ts";

/** How to connect. */
export interface LinkOptions {
  readonly open: OpenTransport;
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly limits: Limits;
  /** A message other than welcome, ping and pong. */
  readonly onMessage: (message: ServerMessage) => void;
  /** Connected, for the first time or again; requests may be sent from here on. */
  readonly onConnected: () => void;
  /** Closed for good. */
  readonly onClosed: (reason: ExecwireError) => void;
  /** Ids of the requests that will be sent again after a reconnect. */
  readonly pending: () => number[];
  /** Whether a new session may replace this one, which the server does not know any more. */
  readonly mayRenew: () => boolean;
  /** Called before that: what the session owned is lost. */
  readonly onSessionLost: () => void;
  /** Whether to wait for another server when this one is stopped. */
  readonly outlivesServer: () => boolean;
}

/** Close codes after which a reconnect cannot succeed, and the errors that they stand for. */
const FATAL: ReadonlyMap<number, { readonly code: ExecwireError["code"]; readonly reason: string }> = new Map([
  [CLOSE.unauthorized, { code: "UNAUTHORIZED", reason: "unauthorized" }],
  [CLOSE.originRefused, { code: "FORBIDDEN", reason: "origin" }],
  [CLOSE.version, { code: "VERSION_UNSUPPORTED", reason: "version" }],
  [CLOSE.sessionUnknown, { code: "SESSION_UNKNOWN", reason: "session-unknown" }],
  [CLOSE.goingAway, { code: "CONNECTION_LOST", reason: "server-stopped" }],
  [CLOSE.superseded, { code: "CONNECTION_LOST", reason: "superseded" }],
  [CLOSE.protocol, { code: "PROTOCOL_VIOLATION", reason: "protocol" }],
  [CLOSE.tooBig, { code: "PROTOCOL_VIOLATION", reason: "too-big" }],
]);

/** A connection to an execwire server that reconnects and resumes its session. */
export class Link {
  readonly state$: Observable<LinkState>;
  /** Resolves when first connected; rejects when that fails. */
  readonly ready: Promise<void>;
  readonly #options: LinkOptions;
  readonly #connection: ReconnectingConnection;
  #serverLimits: WelcomeMessage["limits"] | undefined;
  /** The socket with a pong that is not sent yet. */
  #pongingOn: Transport | undefined;
  #session: Pick<WelcomeMessage, "sessionId" | "secret"> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { open, clock, limits, onConnected, onClosed } = options;
    this.#connection = new ReconnectingConnection({
      open,
      clock,
      limits,
      onConnected,
      onClosed,
      greet: (transport) => this.#greet(transport),
      onFrame: (frame) => this.#receive(frame),
      ping: (transport) => transport.send(encode({ type: "ping" })),
      fatalCloseError: (code, reason, first) =>
        this.#renews(code) || this.#waitsForServer(code) ? undefined : fatalCloseError(code, reason, first),
    });
    this.state$ = this.#connection.state$;
    this.ready = this.#connection.ready;
    this.#connection.connect();
  }

  get state(): LinkState {
    return this.#connection.state;
  }

  /** Bytes that the server sends ahead of an acknowledgement. */
  get windowBytes(): number {
    return this.#serverLimits?.windowBytes ?? this.#options.limits.windowBytes;
  }

  /** Whether messages are sent now, not dropped. */
  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /**
   * Sends now or drops the message: after a reconnect its owner sends again what must arrive. Throws LIMIT_EXCEEDED for a
   * message that is larger than a frame may be.
   */
  send(message: ClientMessage): void {
    if (!this.isOpen) return;
    const frame = encode(message);
    const max = this.#serverLimits?.frameBytes ?? this.#options.limits.frameBytes;
    if (frame.length > max) {
      const text = `a message of ${frame.length} bytes exceeds the server's ${max}; send less at a time`;
      throw new ExecwireError("LIMIT_EXCEEDED", text, { data: { limit: "frameBytes" } });
    }
    this.#connection.send(frame);
  }

  /** Ends the connection for good. */
  close(): void {
    this.#connection.end(new ExecwireError("CLOSED", "the client was closed"));
  }

  /** Closes because of a protocol violation: after one, no other message of the server can be trusted. */
  fail(violation: ExecwireError): void {
    this.#connection.end(violation, CLOSE.protocol, violation.message.slice(0, 120));
  }

  /** The server was restarted, or the session has expired: servers expire sessions that own nothing early. */
  #renews(code: number): boolean {
    if (code !== CLOSE.sessionUnknown || !this.#session || !this.#options.mayRenew()) return false;
    this.#session = undefined;
    this.#options.onSessionLost();
    return true;
  }

  #waitsForServer(code: number): boolean {
    return code === CLOSE.goingAway && this.#session !== undefined && this.#options.outlivesServer();
  }

  #greet(transport: Transport): void {
    const { token, pending } = this.#options;
    const resume = this.#session && { ...this.#session, pending: pending() };
    transport.send(encode(present({ type: "hello" as const, version: PROTOCOL_VERSION, token, resume })));
  }

  #receive(frame: Uint8Array): void {
    let message: ServerMessage;
    try {
      const decoded = decode(frame, this.#options.limits);
      const problem = checkServerMessage(decoded);
      if (problem) throw new Error(`${problem.field} ${problem.message}`);
      message = decoded as ServerMessage;
    } catch (error) {
      return this.fail(
        new ExecwireError("PROTOCOL_VIOLATION", `the server sent an invalid message: ${String(error)}`, {
          cause: error,
        }),
      );
    }
    if (message.type === "ping") return this.#pong();
    if (message.type === "pong") return;
    if ((message.type === "welcome") === this.isOpen) {
      const what = this.isOpen ? "a second welcome" : `${message.type} before its welcome`;
      return this.fail(new ExecwireError("PROTOCOL_VIOLATION", `the server sent ${what}`));
    }
    if (message.type === "welcome") this.#welcome(message);
    else this.#options.onMessage(message);
  }

  /** One unsent pong at most: a server that pings and does not read must not fill this client's memory. */
  #pong(): void {
    const { transport } = this.#connection;
    if (transport === this.#pongingOn) return;
    this.#pongingOn = transport;
    transport?.send(encode({ type: "pong" }), () => {
      if (this.#pongingOn === transport) this.#pongingOn = undefined;
    });
  }

  #welcome({ version, sessionId, secret, resumed, limits }: WelcomeMessage): void {
    if (version !== PROTOCOL_VERSION) {
      const message = `the server speaks protocol version ${version}, this client version ${PROTOCOL_VERSION}`;
      return this.#connection.end(new ExecwireError("VERSION_UNSUPPORTED", message), CLOSE.version, message);
    }
    if (this.#session && (!resumed || sessionId !== this.#session.sessionId)) {
      const message = "the connection was lost: the server started a new session instead of resuming the old one";
      return this.#connection.end(connectionLost("session-unknown", message));
    }
    this.#session = { sessionId, secret };
    this.#serverLimits = limits;
    this.#connection.onWelcome(limits.pingMs);
  }
}

function fatalCloseError(code: number, reason: string, first: boolean): ExecwireError | undefined {
  // A new client fails at once when the server is full; one that reconnects keeps trying.
  if (first && code === CLOSE.tryLater) return connectionLost("server-full", `the server is full: ${reason}`);
  const fatal = FATAL.get(code);
  if (!fatal) return undefined;
  const cause = new ExecwireError(fatal.code, reason || fatal.reason);
  // Without a session the refusal itself is the error; with one, the state of its processes is unknown.
  return first ? cause : connectionLost(fatal.reason, `the connection was lost: ${cause.message}`, cause);
}
