// Whether the other end of a connection is still there, and what it has received: both are told by its pongs.
import type { Cancel, Clock } from "../../clock.ts";
import { Receipts, type Sender } from "./receipts.ts";

/** A connection that gives no sign of life for this long, when somebody else wants its session, is dead. */
const PROOF_MS = 3000;

/** What happens when. */
export interface LivenessOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  readonly ping: (sign: number) => void;
  /** At every interval, while the connection lasts. */
  readonly onBeat: () => void;
  /** No sign of life came when one was asked for. */
  readonly onDead: () => void;
}

/** Pings one connection. A client that answers none stays, as long as nobody else wants its session. */
export class Liveness {
  readonly #options: LivenessOptions;
  readonly #receipts: Receipts;
  #beat: Cancel;
  #proof: Cancel | undefined;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#receipts = new Receipts(options.ping);
    this.#beat = this.#arm();
  }

  /** Something was pushed. */
  sent(sender: Sender, bytes: number): void {
    this.#receipts.sent(sender, bytes);
  }

  /** The peer said something. */
  heard(): void {
    this.#proof?.();
    this.#proof = undefined;
  }

  /** The peer answered a ping. */
  ponged(sign: number): void {
    this.heard();
    this.#receipts.answered(sign);
  }

  /** Somebody else wants the session. */
  demandProof(): void {
    if (this.#proof) return;
    this.#proof = this.#options.clock.after(PROOF_MS, this.#options.onDead);
    this.#receipts.ask();
  }

  end(): void {
    this.#beat();
    this.heard();
  }

  #arm(): Cancel {
    const { clock, pingMs, onBeat } = this.#options;
    const beat = () => {
      this.#receipts.ask();
      onBeat();
      this.#beat = this.#arm();
    };
    return clock.after(pingMs, beat, { background: true });
  }
}
