// The client's connection as one thing, over any number of sockets: it comes back by itself, or gives up once and for all.
//
//  connecting --welcome--> connected --socket lost--> recovering --welcome--> connected
//       |                      |                          |
//       +--refused, no server--+--close, superseded-------+--deadline, session unknown--> closed
import { BehaviorSubject, type Observable } from "rxjs";
import {
  type ClientMessage,
  checkServerMessage,
  decode,
  encode,
  type Limits,
  PROTOCOL_VERSION,
  type ServerMessage,
  type WelcomeMessage,
} from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { CLOSE, type OpenTransport, type Transport } from "../transport/transport.ts";
import { backoff } from "./backoff.ts";

/** Whether calls are answered now, later, or never. */
export type LinkState = "connecting" | "connected" | "recovering" | "closed";

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
  readonly #state = new BehaviorSubject<LinkState>("connecting");
  #settleReady!: { resolve(): void; reject(error: unknown): void };
  #transport: Transport | undefined;
  /** Greeted by the server, so that messages may be sent. */
  #isOpen = false;
  #serverLimits: WelcomeMessage["limits"] | undefined;
  #session: Pick<WelcomeMessage, "sessionId" | "secret"> | undefined;
  #pauses = backoff(0, 0);
  #timer: Cancel | undefined;
  #deadline: Cancel | undefined;
  #unansweredPings = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.state$ = this.#state.asObservable();
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    void this.#connect();
  }

  get state(): LinkState {
    return this.#state.value;
  }

  /** What the server sends ahead of an acknowledgement. */
  get windowBytes(): number {
    return this.#serverLimits?.windowBytes ?? this.#options.limits.windowBytes;
  }

  /** Whether what is sent goes out now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends now, or not at all: what must arrive is sent again by its owner when the link is back. Throws LIMIT_EXCEEDED for a
   * message that no frame can carry.
   */
  send(message: ClientMessage): void {
    if (!this.#isOpen) return;
    const frame = encode(message);
    const max = this.#serverLimits?.frameBytes ?? this.#options.limits.frameBytes;
    if (frame.length > max) {
      const text = `a message of ${frame.length} bytes exceeds the server's ${max}; send less at a time`;
      throw new ExecwireError("LIMIT_EXCEEDED", text, { data: { limit: "frameBytes" } });
    }
    this.#transport?.send(frame);
  }

  /** Ends the connection for good. */
  close(): void {
    const transport = this.#transport;
    this.#giveUp(new ExecwireError("CLOSED", "the client was closed"));
    transport?.close(CLOSE.normal, "");
  }

  /** The server does not keep to the protocol: nothing it says can be relied on. */
  fail(violation: ExecwireError): void {
    const transport = this.#transport;
    this.#giveUp(violation);
    transport?.close(CLOSE.protocol, violation.message.slice(0, 120));
  }

  async #connect(): Promise<void> {
    try {
      const transport = await this.#openInTime();
      if (this.state === "closed") return transport.terminate();
      this.#transport = transport;
      // A socket that opens and then says nothing is no better than one that does not open.
      this.#timer = this.#options.clock.after(this.#options.limits.handshakeMs, () => transport.terminate());
      transport.listen({
        frame: (frame) => this.#receive(transport, frame),
        closed: (code, reason) => this.#lost(transport, code, reason),
      });
      const { token, pending } = this.#options;
      const hello: ClientMessage = {
        type: "hello",
        version: PROTOCOL_VERSION,
        ...(token !== undefined && { token }),
        ...(this.#session && { resume: { ...this.#session, pending: pending() } }),
      };
      transport.send(encode(hello));
    } catch (error) {
      if (this.state === "recovering") return this.#tryLater();
      this.#giveUp(
        lost("unreachable", `cannot connect: ${error instanceof Error ? error.message : String(error)}`, error),
      );
    }
  }

  /** Whoever accepts and then is silent must not use up the time there is to come back. */
  #openInTime(): Promise<Transport> {
    const { open, clock, limits } = this.#options;
    return new Promise((resolve, reject) => {
      let late = false;
      const cancel = clock.after(limits.handshakeMs, () => {
        late = true;
        reject(new Error(`no answer within ${limits.handshakeMs} ms`));
      });
      open().then(
        (transport) => {
          cancel();
          if (late) transport.terminate();
          else resolve(transport);
        },
        (error) => {
          cancel();
          reject(error);
        },
      );
    });
  }

  #receive(transport: Transport, frame: Uint8Array): void {
    if (transport !== this.#transport) return;
    this.#unansweredPings = 0;
    let message: ServerMessage;
    try {
      const decoded = decode(frame);
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
    if (message.type === "welcome") return this.#welcome(message);
    if (message.type === "ping") return transport.send(encode({ type: "pong" }));
    if (message.type !== "pong") this.#options.onMessage(message);
  }

  #welcome({ sessionId, secret, limits }: WelcomeMessage): void {
    this.#timer?.();
    this.#deadline?.();
    this.#deadline = undefined;
    this.#session = { sessionId, secret };
    this.#serverLimits = limits;
    this.#armPing(limits.pingMs);
    // What waited goes first: whoever hears of the state may call at once.
    this.#isOpen = true;
    this.#options.onConnected();
    this.#become("connected");
    this.#settleReady.resolve();
  }

  #lost(transport: Transport, code: number, reason: string): void {
    if (transport !== this.#transport || this.state === "closed") return;
    this.#transport = undefined;
    this.#isOpen = false;
    this.#timer?.();
    const final = FINAL.get(code);
    if (final) {
      const cause = new ExecwireError(final.code, reason || final.reason);
      // Before there was a session, the refusal itself is the answer; later it is the reason why nothing can be known.
      return this.#giveUp(
        this.#session ? lost(final.reason, `the connection is lost: ${cause.message}`, cause) : cause,
      );
    }
    if (!this.#session) return this.#giveUp(lost("unreachable", `the server closed the connection: ${code} ${reason}`));
    if (this.state === "connected") this.#recover();
    else this.#tryLater();
  }

  #recover(): void {
    const { clock, limits } = this.#options;
    this.#become("recovering");
    this.#pauses = backoff(limits.backoffFirstMs, limits.backoffLastMs);
    this.#deadline = clock.after(limits.recoveryMs, () => {
      const seconds = Math.round(limits.recoveryMs / 1000);
      const transport = this.#transport;
      this.#giveUp(lost("unreachable", `the connection is lost and did not come back within ${seconds} s`));
      transport?.terminate();
    });
    this.#tryLater();
  }

  #tryLater(): void {
    this.#timer?.();
    this.#timer = this.#options.clock.after(this.#pauses.next().value, () => void this.#connect());
  }

  /** A server that is gone without a word is noticed after two silent intervals. */
  #armPing(pingMs: number): void {
    const transport = this.#transport;
    this.#unansweredPings = 0;
    const beat = () => {
      if (this.#unansweredPings >= 2) return transport?.terminate();
      this.#unansweredPings += 1;
      this.send({ type: "ping" });
      this.#timer = this.#options.clock.after(pingMs, beat, { background: true });
    };
    this.#timer = this.#options.clock.after(pingMs, beat, { background: true });
  }

  #giveUp(reason: ExecwireError): void {
    if (this.state === "closed") return;
    this.#transport = undefined;
    this.#isOpen = false;
    this.#timer?.();
    this.#deadline?.();
    this.#become("closed");
    this.#state.complete();
    this.#settleReady.reject(reason);
    this.#options.onClosed(reason);
  }

  #become(state: LinkState): void {
    this.#state.next(state);
  }
}

function lost(reason: string, message: string, cause?: unknown): ExecwireError {
  return new ExecwireError("CONNECTION_LOST", message, { data: { reason }, ...(cause !== undefined && { cause }) });
}
