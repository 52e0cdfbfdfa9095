// Tells the source of a replica how far its readers are: in steps that keep the window open, and now and then without one, so
// that a reader that is slow but alive keeps its hold.
import type { Seq } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";

/** What was read is acknowledged after this time at the latest: the source may retain less than our window. */
const ACK_MS = 5;
/** A reader that asks or renews without moving is said to be alive this often; far below the lease of a pause. */
const ALIVE_MS = 10_000;

/** A place in the log: a seq, and the output bytes up to it. */
export interface Position {
  readonly seq: Seq;
  readonly offset: number;
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
  #offset = 0;
  #at = 0;
  #timer: Cancel | undefined;

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** A subscription began that knows of everything up to `offset`. */
  begin(offset: number): void {
    this.#offset = offset;
    this.#at = this.#options.clock.now();
  }

  /** A reader moved, or showed that it is alive. */
  acknowledge(isDue = false): void {
    if (isDue) this.#timer = undefined;
    const { clock, windowBytes, position, ack } = this.#options;
    const reader = position();
    if (!reader) return;
    const { seq, offset } = reader;
    const at = clock.now();
    if (offset === this.#offset && at - this.#at < ALIVE_MS) return;
    if (offset !== this.#offset && offset - this.#offset < windowBytes / 4) {
      this.#timer ??= clock.after(ACK_MS, () => this.acknowledge(true), { background: true });
      if (!isDue) return;
    }
    this.#timer?.();
    this.#timer = undefined;
    this.#offset = offset;
    this.#at = at;
    ack(seq);
  }
}
