// Acknowledges to the event source how far the readers are: in steps that keep the window open, and as a keep-alive when nothing
// moved, so that a slow reader keeps its hold.
import type { Seq } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";

/** Longest delay of an acknowledgement: the source may retain less than our window. */
const ACK_MS = 5;
/** Shortest pause between two keep-alives of a reader that does not move; far below the lease of a pause. */
const ALIVE_MS = 10_000;

/** A position in the log: a seq, and the output bytes up to it, as far as they are known. */
export interface Position {
  readonly seq: Seq;
  readonly offset: number;
  /** Nothing follows. */
  readonly isEnd: boolean;
}

/** How to find and report the position. */
export interface AcknowledgerOptions {
  readonly clock: Clock;
  readonly windowBytes: number;
  /** Position of the slowest reader; undefined while the source needs no acknowledgements. */
  readonly position: () => Position | undefined;
  readonly ack: (seq: Seq) => void;
}

/** Sends the acknowledgements of one subscription at a time. */
export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  #acked: Position = { seq: 0, offset: 0, isEnd: false };
  #ackedAt = 0;
  #timer: Cancel | undefined;

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** The last acknowledged seq of this subscription. The source knows of no later one, and may not have received this one yet. */
  get acked(): Seq {
    return this.#acked.seq;
  }

  /** A subscription began, with `position` acknowledged. */
  begin(position: Position): void {
    this.#acked = position;
    this.#ackedAt = this.#options.clock.now();
  }

  /** To be called when a reader moved or renewed its hold. */
  acknowledge(isDue = false): void {
    if (isDue) this.#timer = undefined;
    const { clock, windowBytes, position, ack } = this.#options;
    const reader = position();
    if (!reader) return;
    // A new reader may be further back: an acknowledgement is never taken back.
    const hasMoved = reader.seq > this.#acked.seq;
    if (!hasMoved && clock.now() - this.#ackedAt < ALIVE_MS) return;
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
