// The link of our own protocol: the handshake, the session that outlives a socket, and the ends from which there is no
// way back. That it comes back at all is the work of `healing.ts`.
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
import { connectionLost, HealingConnection, type LinkState } from "./healing.ts";

export type { LinkState } from "./healing.ts";

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
  /** Requests that will be sent again. */
  readonly pending: () => number[];
  /** Whether the session holds nothing that a new one would not have as well. */
  readonly mayStartOver: () => boolean;
}

/** Close codes after which coming back is of no use, and what they mean. */
const FINAL: ReadonlyMap<number, { readonly code: ExecwireError["code"]; readonly reason: string }> = new Map([
  [CLOSE.unauthorized, { code: "UNAUTHORIZED", reason: "unauthorized" }],
  [CLOSE.version, { code: "VERSION_UNSUPPORTED", reason: "version" }],
  [CLOSE.sessionUnknown, { code: "SESSION_UNKNOWN", reason: "session-unknown" }],
  [CLOSE.goingAway, { code: "CONNECTION_LOST", reason: "server-stopped" }],
  [CLOSE.superseded, { code: "CONNECTION_LOST", reason: "superseded" }],
  [CLOSE.protocol, { code: "PROTOCOL_VIOLATION", reason: "protocol" }],
  [CLOSE.tooBig, { code: "PROTOCOL_VIOLATION", reason: "too-big" }],
]);

/** A connection that heals. */
export class Link {
  readonly state$: Observable<LinkState>;
  /** Resolves when first connected; rejects when that fails. */
  readonly ready: Promise<void>;
  readonly #options: LinkOptions;
  readonly #connection: HealingConnection;
  #serverLimits: WelcomeMessage["limits"] | undefined;
  /** The connection on which a pong is on its way. */
  #pongingOn: Transport | undefined;
  #session: Pick<WelcomeMessage, "sessionId" | "secret"> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { open, clock, limits, onConnected, onClosed } = options;
    this.#connection = new HealingConnection({
      open,
      clock,
      limits,
      onConnected,
      onClosed,
      greet: (transport) => this.#greet(transport),
      frame: (frame) => this.#receive(frame),
      ping: (transport) => transport.send(encode({ type: "ping" })),
      verdict: (code, reason, first) => (this.#startsOver(code) ? undefined : verdict(code, reason, first)),
    });
    this.state$ = this.#connection.state$;
    this.ready = this.#connection.ready;
    this.#connection.connect();
  }

  get state(): LinkState {
    return this.#connection.state;
  }

  /** What the server sends ahead of an acknowledgement. */
  get windowBytes(): number {
    return this.#serverLimits?.windowBytes ?? this.#options.limits.windowBytes;
  }

  /** Whether what is sent goes out now. */
  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /**
   * Sends now, or not at all: what must arrive is sent again by its owner when the link is back. Throws LIMIT_EXCEEDED for a
   * message that no frame can carry.
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

  /** The server does not keep to the protocol: nothing it says can be relied on. */
  fail(violation: ExecwireError): void {
    this.#connection.end(violation, CLOSE.protocol, violation.message.slice(0, 120));
  }

  /** A server ends a session that owns nothing soon; its client goes on with a new one. */
  #startsOver(code: number): boolean {
    if (code !== CLOSE.sessionUnknown || !this.#session || !this.#options.mayStartOver()) return false;
    this.#session = undefined;
    return true;
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
        new ExecwireError("PROTOCOL_VIOLATION", `the server sent what is no message: ${String(error)}`, {
          cause: error,
        }),
      );
    }
    if (message.type === "ping") return this.#pong();
    if (message.type === "pong") return;
    if ((message.type === "welcome") === this.isOpen) {
      const what = this.isOpen ? "welcome for a second time" : `${message.type} before its welcome`;
      return this.fail(new ExecwireError("PROTOCOL_VIOLATION", `the server said ${what}`));
    }
    if (message.type === "welcome") this.#welcome(message);
    else this.#options.onMessage(message);
  }

  /** One pong at a time: a server that pings and does not read must not fill the memory here. */
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
      const message = `the server speaks version ${version}, this client ${PROTOCOL_VERSION}`;
      return this.#connection.end(new ExecwireError("VERSION_UNSUPPORTED", message), CLOSE.version, message);
    }
    if (this.#session && (!resumed || sessionId !== this.#session.sessionId)) {
      const message = "the connection is lost: the server began a new session instead of the one asked for";
      return this.#connection.end(connectionLost("session-unknown", message));
    }
    this.#session = { sessionId, secret };
    this.#serverLimits = limits;
    this.#connection.admit(limits.pingMs);
  }
}

function verdict(code: number, reason: string, first: boolean): ExecwireError | undefined {
  // Who was let in before waits for room; who never was is told that there is a server, and that it is full.
  if (first && code === CLOSE.tryLater) return connectionLost("server-full", `the server takes nobody in: ${reason}`);
  const final = FINAL.get(code);
  if (!final) return undefined;
  const cause = new ExecwireError(final.code, reason || final.reason);
  // Before there was a session, the refusal itself is the answer; later it is the reason why nothing can be known.
  return first ? cause : connectionLost(final.reason, `the connection is lost: ${cause.message}`, cause);
}
