// Positions that readers ask a log to keep. What follows a lossless hold is never evicted: the writer pauses instead. A bounded
// hold never pauses the writer: it keeps more than the log would by itself, up to its bound.
import type { Seq } from "../../protocol/index.ts";
import type { Hold } from "./log-view.ts";

/** One hold. A class, since V8 makes a hidden class of its own for each literal with a getter. */
class Entry implements Hold {
  readonly position: () => Seq;
  /** Output bytes that the log may retain for this hold; infinite for a lossless one. */
  readonly maxBytes: number;
  readonly #among: Set<Entry>;
  readonly #onMove: () => void;
  isRenewed = true;

  constructor(position: () => Seq, maxBytes: number, among: Set<Entry>, onMove: () => void) {
    this.position = position;
    this.maxBytes = maxBytes;
    this.#among = among.add(this);
    this.#onMove = onMove;
  }

  get isLossless(): boolean {
    return this.maxBytes === Number.POSITIVE_INFINITY;
  }

  get isLive(): boolean {
    return this.#among.has(this);
  }

  renew(): void {
    this.isRenewed = true;
    this.#onMove();
  }

  release(): void {
    if (this.#among.delete(this)) this.#onMove();
  }
}

/** The holds of one log. */
export class HoldSet {
  readonly #entries = new Set<Entry>();
  readonly #isTooMuch: (floor: Seq) => boolean;
  readonly #onPressure: ((full: boolean) => void) | undefined;
  readonly #onMove: () => void;
  #full = false;

  /** `isTooMuch` decides whether the events after a floor fill the log; `onMove` is called when the floor may have risen. */
  constructor(
    isTooMuch: (floor: Seq) => boolean,
    onPressure: ((full: boolean) => void) | undefined,
    onMove: () => void,
  ) {
    this.#isTooMuch = isTooMuch;
    this.#onPressure = onPressure;
    this.#onMove = onMove;
  }

  /** Adds a hold: a lossless one, or with `maxBytes` a bounded one, which needs no lease. */
  add(position: () => Seq, maxBytes: number = Number.POSITIVE_INFINITY): Hold {
    return new Entry(position, maxBytes, this.#entries, this.#onMove);
  }

  /** Whether a hold keeps `seq` in a log that retains so many bytes. With an infinite number, only lossless holds do. */
  keeps(seq: Seq, retainedBytes: number): boolean {
    for (const { position, maxBytes } of this.#entries) if (retainedBytes <= maxBytes && seq > position()) return true;
    return false;
  }

  /** The lowest lossless position; infinite without one. */
  floor(): Seq {
    let floor = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries) if (entry.isLossless) floor = Math.min(floor, entry.position());
    return floor;
  }

  /** Whether `test` is true of the position of every hold. */
  every(test: (position: Seq) => boolean): boolean {
    return [...this.#entries].every(({ position }) => test(position()));
  }

  /** Drops the holds at `seq` or before it. The next event may evict what they kept. */
  drop(seq: Seq): void {
    for (const entry of this.#entries) if (entry.position() <= seq) this.#entries.delete(entry);
  }

  /** Reports to the writer when the log becomes full of what lossless holds have not read, and when it no longer is. */
  check(): void {
    if (this.#entries.size === 0 && !this.#full) return;
    const floor = this.floor();
    const full = floor < Number.POSITIVE_INFINITY && this.#isTooMuch(floor);
    if (full === this.#full) return;
    this.#full = full;
    this.#onPressure?.(full);
  }

  /** Begins a round of the lease, in which every lossless hold must be renewed once. */
  beginLease(): void {
    for (const entry of this.#entries) entry.isRenewed = false;
  }

  /** Ends a round: lossless holds that were not renewed since it began are released. The next round begins. */
  endLease(): void {
    for (const entry of this.#entries) if (!entry.isRenewed && entry.isLossless) entry.release();
    this.beginLease();
  }
}
