// What every link is made of, whatever is spoken on it: a connection over any number of sockets, which comes back by
// itself, or gives up once and for all.
//
//  connecting --admitted--> connected --socket lost--> recovering --admitted--> connected
//       |                       |                          |
//       +--refused, no server---+--close, a final loss-----+--deadline, a refusal--> closed
import { BehaviorSubject, type Observable } from "rxjs";
import type { Limits } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { backoff } from "./backoff.ts";

/** Whether calls are answered now, later, or never. */
export type LinkState = "connecting" | "connected" | "recovering" | "closed";

/** Silent intervals after which a peer is taken for gone. */
const SILENT_INTERVALS = 2;

/** How to connect, and what to do on the way. */
export interface HealingOptions<T extends Transport> {
  /** Opens a socket. Rejecting with an ExecwireError is a refusal, after which coming back is of no use. */
  readonly open: () => Promise<T>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "handshakeMs" | "recoveryMs" | "backoffFirstMs" | "backoffLastMs">;
  /** A socket is open: say who we are. The answer leads to `admit`. */
  readonly greet: (transport: T) => void;
  /** A frame of the socket of the moment. */
  readonly frame: (frame: Uint8Array) => void;
  /** Asks the peer for a sign of life: any frame is one, and a pong of the transport. */
  readonly ping: (transport: T) => void;
  /** Why coming back after such an end is of no use; undefined when it is. `first` while we were never admitted. */
  readonly verdict: (code: number, reason: string, first: boolean) => ExecwireError | undefined;
  /** Admitted, for the first time or again; frames may be sent from here on. */
  readonly onConnected: () => void;
  /** Closed for good. */
  readonly onClosed: (reason: ExecwireError) => void;
}

/** A connection that heals. */
export class HealingConnection<T extends Transport = Transport> {
  readonly state$: Observable<LinkState>;
  /** Resolves when first admitted; rejects when that fails. */
  readonly ready: Promise<void>;
  readonly #options: HealingOptions<T>;
  readonly #state = new BehaviorSubject<LinkState>("connecting");
  #settleReady!: { resolve(): void; reject(error: unknown): void };
  #transport: T | undefined;
  #isOpen = false;
  #wasAdmitted = false;
  #pauses = backoff(0, 0);
  #timer: Cancel | undefined;
  #deadline: Cancel | undefined;
  #unansweredPings = 0;

  constructor(options: HealingOptions<T>) {
    this.#options = options;
    this.state$ = this.#state.asObservable();
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
  }

  get state(): LinkState {
    return this.#state.value;
  }

  /** Whether what is sent goes out now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The socket of the moment, also while nobody has let us in yet. */
  get transport(): T | undefined {
    return this.#transport;
  }

  /** Begins. */
  connect(): void {
    void this.#connect();
  }

  /** Sends now, or not at all: what must arrive is sent again by its owner when the connection is back. */
  send(frame: Uint8Array): void {
    if (this.#isOpen) this.#transport?.send(frame);
  }

  /** The peer let us in; it is asked for signs of life from here on. */
  admit(pingMs: number): void {
    this.#timer?.();
    this.#deadline?.();
    this.#deadline = undefined;
    this.#wasAdmitted = true;
    this.#armPing(pingMs);
    // What waited goes first: whoever hears of the state may call at once.
    this.#isOpen = true;
    this.#options.onConnected();
    this.#state.next("connected");
    this.#settleReady.resolve();
  }

  /** The peer is there though it cannot say so. */
  noteLife(): void {
    this.#unansweredPings = 0;
  }

  /** Leaves this socket for a new one. */
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
      // A socket that opens and then says nothing is no better than one that does not open.
      this.#timer = this.#options.clock.after(this.#options.limits.handshakeMs, () => transport.terminate());
      transport.listen({
        frame: (frame) => {
          if (transport !== this.#transport) return;
          this.noteLife();
          this.#take(frame);
        },
        pong: () => {
          if (transport === this.#transport) this.noteLife();
        },
        closed: (code, reason) => this.#lost(transport, code, reason),
      });
      this.#options.greet(transport);
    } catch (error) {
      if (error instanceof ExecwireError) return this.#giveUp(this.#wasAdmitted ? refusedAgain(error) : error);
      if (this.state === "recovering") return this.#tryLater();
      this.#giveUp(
        connectionLost("unreachable", `cannot connect: ${error instanceof Error ? error.message : error}`, error),
      );
    }
  }

  /** Whatever a peer says, it must not end the program that listens to it. */
  #take(frame: Uint8Array): void {
    try {
      this.#options.frame(frame);
    } catch (error) {
      const message = `what the server sent could not be handled: ${error instanceof Error ? error.message : error}`;
      this.end(new ExecwireError("INTERNAL", message, { cause: error }), CLOSE.protocol);
    }
  }

  /** Whoever accepts and then is silent must not use up the time there is to come back. */
  #openInTime(): Promise<T> {
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

  #lost(transport: T, code: number, reason: string): void {
    if (transport !== this.#transport || this.state === "closed") return;
    this.#transport = undefined;
    this.#isOpen = false;
    this.#timer?.();
    const final = this.#options.verdict(code, reason, !this.#wasAdmitted);
    if (final) return this.#giveUp(final);
    if (!this.#wasAdmitted) {
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
      this.#giveUp(connectionLost("unreachable", `the connection is lost and did not come back within ${seconds} s`));
      transport?.terminate();
    });
    this.#tryLater();
  }

  #tryLater(): void {
    this.#timer?.();
    this.#timer = this.#options.clock.after(this.#pauses.next().value, () => void this.#connect());
  }

  /** A peer that is gone without a word is noticed after two silent intervals. */
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

/** The error of everything that waits when there is no connection any more. */
export function connectionLost(reason: string, message: string, cause?: unknown): ExecwireError {
  return new ExecwireError("CONNECTION_LOST", message, { data: { reason }, cause });
}

/** A refusal of somebody who was let in before: what becomes of the processes is not known. */
function refusedAgain(refusal: ExecwireError): ExecwireError {
  return connectionLost(
    "refused",
    `the connection is lost and the server refuses a new one: ${refusal.message}`,
    refusal,
  );
}
