// What readers ask a log to keep. The lossless ones: the lowest of their positions is the floor of eviction, and the reason
// to pause the writer. The others only wish for more than the log would keep by itself, within bounds.
import type { Seq } from "../../protocol/index.ts";
import type { Hold } from "./log-view.ts";

/** One hold. A class, since V8 makes a hidden class of its own for each literal with a getter. */
class Entry implements Hold {
  readonly position: () => Seq;
  /** What is to be kept at most; infinite for a hold that pauses the writer. */
  readonly bytes: number;
  readonly #among: Set<Entry>;
  readonly #onMove: () => void;
  alive = true;

  constructor(position: () => Seq, bytes: number, among: Set<Entry>, onMove: () => void) {
    this.position = position;
    this.bytes = bytes;
    this.#among = among.add(this);
    this.#onMove = onMove;
  }

  get isLive(): boolean {
    return this.#among.has(this);
  }

  renew(): void {
    this.alive = true;
    this.#onMove();
  }

  release(): void {
    if (this.#among.delete(this)) this.#onMove();
  }
}

/** What is to be kept beyond the bounds of a log, when there is memory for it. */
export interface Wish {
  /** From this seq on, exclusively. */
  readonly floor: Seq;
  readonly bytes: number;
}

const NO_WISH: Wish = { floor: Number.POSITIVE_INFINITY, bytes: 0 };

/** Positions that must not be evicted, with back-pressure while they fill the log. */
export class HoldSet {
  readonly #entries = new Set<Entry>();
  readonly #wishes = new Set<Entry>();
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

  add(position: () => Seq): Hold {
    return new Entry(position, Number.POSITIVE_INFINITY, this.#entries, this.#onMove);
  }

  /** A hold that gives in: it neither pauses the writer nor needs a lease. */
  addWish(position: () => Seq, bytes: number): Hold {
    return new Entry(position, bytes, this.#wishes, this.#onMove);
  }

  /** All wishes together. */
  wish(): Wish {
    if (this.#wishes.size === 0) return NO_WISH;
    let { floor, bytes } = NO_WISH;
    for (const wish of this.#wishes) {
      floor = Math.min(floor, wish.position());
      bytes = Math.max(bytes, wish.bytes);
    }
    return { floor, bytes };
  }

  /** The lowest held position; infinite without holds. */
  floor(): Seq {
    let floor = Number.POSITIVE_INFINITY;
    for (const { position } of this.#entries) floor = Math.min(floor, position());
    return floor;
  }

  /** Whether `test` is true of every lossless position. */
  every(test: (position: Seq) => boolean): boolean {
    return [...this.#entries].every(({ position }) => test(position()));
  }

  /** Drops the lossless holds at `seq` or before it. The next event may evict what they kept. */
  drop(seq: Seq): void {
    for (const entry of this.#entries) if (entry.position() <= seq) this.#entries.delete(entry);
  }

  /** Reports to the writer when the log becomes full of what lossless holds have not read, and when it no longer is. */
  check(): void {
    if (this.#entries.size === 0 && !this.#full) return;
    const full = this.#entries.size > 0 && this.#isTooMuch(this.floor());
    if (full === this.#full) return;
    this.#full = full;
    this.#onPressure?.(full);
  }

  /** Begins a round of the lease, in which every lossless hold must be renewed once. */
  beginLease(): void {
    for (const entry of this.#entries) entry.alive = false;
  }

  /** Ends a round: lossless holds that were not renewed since it began are released. The next round begins. */
  endLease(): void {
    for (const entry of this.#entries) if (!entry.alive) entry.release();
    this.beginLease();
  }
}
