// Acknowledges to the source of events how far its readers are: in steps that keep the window open, and now and then without one, so
// that a reader that is slow but alive keeps its hold.
import type { Seq } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";

/** What was read is acknowledged after this time at the latest: the source may retain less than our window. */
const ACK_MS = 5;
/** A reader that asks or renews without moving is said to be alive this often; far below the lease of a pause. */
const ALIVE_MS = 10_000;

/** A place in the log: a seq, and the output bytes up to it, as far as they are known. */
export interface Position {
  readonly seq: Seq;
  readonly offset: number;
  /** Nothing follows. */
  readonly isEnd: boolean;
}

/** What an acknowledger works with. */
export interface AcknowledgerOptions {
  readonly clock: Clock;
  readonly windowBytes: number;
  /** Where the slowest reader stands; undefined while nobody wants to know. */
  readonly position: () => Position | undefined;
  readonly ack: (seq: Seq) => void;
}

/** Acknowledges for one subscription after the other. */
export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  #acked: Position = { seq: 0, offset: 0, isEnd: false };
  #at = 0;
  #timer: Cancel | undefined;

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** What this subscription was told to be read; its source may not have heard of it yet, and knows of no more. */
  get acked(): Seq {
    return this.#acked.seq;
  }

  /** A subscription began that was told of everything up to `position`. */
  begin(position: Position): void {
    this.#acked = position;
    this.#at = this.#options.clock.now();
  }

  /** A reader moved, or showed that it is alive. */
  acknowledge(isDue = false): void {
    if (isDue) this.#timer = undefined;
    const { clock, windowBytes, position, ack } = this.#options;
    const reader = position();
    if (!reader) return;
    // A reader that came later may stand further back: what was acknowledged stays so.
    const hasMoved = reader.seq > this.#acked.seq;
    if (!hasMoved && clock.now() - this.#at < ALIVE_MS) return;
    if (hasMoved && !reader.isEnd && reader.offset - this.#acked.offset < windowBytes / 4) {
      this.#timer ??= clock.after(ACK_MS, () => this.acknowledge(true), { background: true });
      if (!isDue) return;
    }
    this.#timer?.();
    this.#timer = undefined;
    this.begin(hasMoved ? reader : this.#acked);
    ack(this.#acked.seq);
  }
}
