// The base of every link, for any protocol: one logical connection over a series of sockets. It reconnects after a lost
// socket, or closes for good.
//
//  connecting --welcome---> connected --socket lost--> recovering --welcome---> connected
//       |                       |                          |
//       +--refused, no server---+--close, a fatal loss-----+--deadline, a refusal--> closed
import { BehaviorSubject, type Observable } from "rxjs";
import type { Limits } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { backoff } from "./backoff.ts";

/** `connected`: calls are sent now. `connecting`, `recovering`: they wait for a connection. `closed`: they fail. */
export type LinkState = "connecting" | "connected" | "recovering" | "closed";

/** Unanswered pings in a row after which a peer is considered dead. */
const SILENT_INTERVALS = 2;

/** How to connect, and the hooks of the protocol above. */
export interface ReconnectingOptions<T extends Transport> {
  /** Opens a socket. A rejection with an ExecwireError is a refusal and final; any other error is worth another attempt. */
  readonly open: () => Promise<T>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "handshakeMs" | "recoveryMs" | "backoffFirstMs" | "backoffLastMs">;
  /** Sends the handshake on a new socket. Its reply must lead to `onWelcome`. */
  readonly greet: (transport: T) => void;
  /** Called with each frame of the current socket. */
  readonly onFrame: (frame: Uint8Array) => void;
  /** Sends a ping. Any frame answers it, and so does a pong of the transport. */
  readonly ping: (transport: T) => void;
  /** The error of a close after which a reconnect cannot succeed; undefined when it may. `first`: before the first welcome. */
  readonly fatalCloseError: (code: number, reason: string, first: boolean) => ExecwireError | undefined;
  /** Connected, for the first time or again; frames may be sent from here on. */
  readonly onConnected: () => void;
  /** Closed for good. */
  readonly onClosed: (reason: ExecwireError) => void;
}

/** A connection that reconnects. */
export class ReconnectingConnection<T extends Transport = Transport> {
  readonly state$: Observable<LinkState>;
  /** Resolves with the first welcome; rejects when the connection closes before it. */
  readonly ready: Promise<void>;
  readonly #options: ReconnectingOptions<T>;
  readonly #state = new BehaviorSubject<LinkState>("connecting");
  #settleReady!: { resolve(): void; reject(error: unknown): void };
  #transport: T | undefined;
  #isOpen = false;
  #wasWelcomed = false;
  #pauses = backoff(0, 0);
  #timer: Cancel | undefined;
  #deadline: Cancel | undefined;
  #unansweredPings = 0;

  constructor(options: ReconnectingOptions<T>) {
    this.#options = options;
    this.state$ = this.#state.asObservable();
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
  }

  get state(): LinkState {
    return this.#state.value;
  }

  /** Whether frames are sent now, not dropped. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The current socket, also before its welcome. */
  get transport(): T | undefined {
    return this.#transport;
  }

  /** Starts the first attempt. */
  connect(): void {
    void this.#connect();
  }

  /** Sends now or drops the frame: after a reconnect its owner sends again what must arrive. */
  send(frame: Uint8Array): void {
    if (this.#isOpen) this.#transport?.send(frame);
  }

  /** To be called when the peer has accepted the handshake: connected, and pinged every `pingMs` from here on. */
  onWelcome(pingMs: number): void {
    this.#timer?.();
    this.#deadline?.();
    this.#deadline = undefined;
    this.#wasWelcomed = true;
    this.#armPing(pingMs);
    // Waiting requests go first: a subscriber of the state may make a new call at once.
    this.#isOpen = true;
    this.#options.onConnected();
    this.#state.next("connected");
    this.#settleReady.resolve();
  }

  /** Counts the peer as alive. Called for each frame and pong, and by a link that cannot receive any now. */
  noteAlive(): void {
    this.#unansweredPings = 0;
  }

  /** Drops the current socket and reconnects. */
  reopen(): void {
    this.#transport?.terminate();
  }

  /** Ends the connection for good. */
  end(reason: ExecwireError, closeCode: number = CLOSE.normal, closeReason = ""): void {
    const transport = this.#transport;
    this.#giveUp(reason);
    transport?.close(closeCode, closeReason);
  }

  async #connect(): Promise<void> {
    try {
      const transport = await this.#openInTime();
      if (this.state === "closed") return transport.terminate();
      this.#transport = transport;
      // A socket without a welcome is given up like one that does not open.
      this.#timer = this.#options.clock.after(this.#options.limits.handshakeMs, () => transport.terminate());
      transport.listen({
        frame: (frame) => {
          if (transport !== this.#transport) return;
          this.noteAlive();
          this.#receive(frame);
        },
        pong: () => {
          if (transport === this.#transport) this.noteAlive();
        },
        closed: (code, reason) => this.#lost(transport, code, reason),
      });
      this.#options.greet(transport);
    } catch (error) {
      if (error instanceof ExecwireError) return this.#giveUp(this.#wasWelcomed ? refusedAgain(error) : error);
      if (this.state === "recovering") return this.#tryLater();
      this.#giveUp(
        connectionLost("unreachable", `cannot connect: ${error instanceof Error ? error.message : error}`, error),
      );
    }
  }

  /** No frame may end the program that receives it. */
  #receive(frame: Uint8Array): void {
    try {
      this.#options.onFrame(frame);
    } catch (error) {
      const message = `a message of the server could not be handled: ${error instanceof Error ? error.message : error}`;
      this.end(new ExecwireError("INTERNAL", message, { cause: error }), CLOSE.protocol);
    }
  }

  /** A socket that hangs while it opens must not use up the time for recovery. */
  #openInTime(): Promise<T> {
    const { open, clock, limits } = this.#options;
    return new Promise((resolve, reject) => {
      let isTooLate = false;
      const cancel = clock.after(limits.handshakeMs, () => {
        isTooLate = true;
        reject(new Error(`no answer within ${limits.handshakeMs} ms`));
      });
      open().then(
        (transport) => {
          cancel();
          if (isTooLate) transport.terminate();
          else resolve(transport);
        },
        (error) => {
          cancel();
          reject(error);
        },
      );
    });
  }

  #lost(transport: T, code: number, reason: string): void {
    if (transport !== this.#transport || this.state === "closed") return;
    this.#transport = undefined;
    this.#isOpen = false;
    this.#timer?.();
    const fatal = this.#options.fatalCloseError(code, reason, !this.#wasWelcomed);
    if (fatal) return this.#giveUp(fatal);
    if (!this.#wasWelcomed) {
      return this.#giveUp(connectionLost("unreachable", `the server closed the connection: ${code} ${reason}`));
    }
    if (this.state === "connected") this.#recover();
    else this.#tryLater();
  }

  #recover(): void {
    const { clock, limits } = this.#options;
    this.#state.next("recovering");
    this.#pauses = backoff(limits.backoffFirstMs, limits.backoffLastMs);
    this.#deadline = clock.after(limits.recoveryMs, () => {
      const seconds = Math.round(limits.recoveryMs / 1000);
      const transport = this.#transport;
      this.#giveUp(connectionLost("unreachable", `the connection was lost and did not come back within ${seconds} s`));
      transport?.terminate();
    });
    this.#tryLater();
  }

  #tryLater(): void {
    this.#timer?.();
    this.#timer = this.#options.clock.after(this.#pauses.next().value, () => void this.#connect());
  }

  /** Finds a peer that is gone without closing the socket: after SILENT_INTERVALS intervals without a frame. */
  #armPing(pingMs: number): void {
    const { clock, ping } = this.#options;
    const transport = this.#transport;
    this.#unansweredPings = 0;
    const beat = () => {
      if (this.#unansweredPings >= SILENT_INTERVALS) return transport?.terminate();
      this.#unansweredPings += 1;
      if (transport) ping(transport);
      this.#timer = clock.after(pingMs, beat, { background: true });
    };
    this.#timer = clock.after(pingMs, beat, { background: true });
  }

  #giveUp(reason: ExecwireError): void {
    if (this.state === "closed") return;
    this.#transport = undefined;
    this.#isOpen = false;
    this.#timer?.();
    this.#deadline?.();
    this.#state.next("closed");
    this.#state.complete();
    this.#settleReady.reject(reason);
    this.#options.onClosed(reason);
  }
}

/** The error of pending and later calls when the connection is closed by a loss. */
export function connectionLost(reason: string, message: string, cause?: unknown): ExecwireError {
  return new ExecwireError("CONNECTION_LOST", message, { data: { reason }, cause });
}

/** A refusal after a first welcome is a lost connection: what becomes of the processes is not known. */
function refusedAgain(refusal: ExecwireError): ExecwireError {
  return connectionLost(
    "refused",
    `the connection was lost and the server refuses a new one: ${refusal.message}`,
    refusal,
  );
}
