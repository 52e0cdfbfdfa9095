// What readers ask a log to keep. The lossless ones: the lowest of their positions is the floor of eviction, and the reason
// to pause the writer. The others only wish for more than the log would keep by itself, within bounds.
import type { Seq } from "../../protocol/index.ts";
import type { Hold } from "./log-view.ts";

interface Entry {
  readonly position: () => Seq;
  alive: boolean;
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
  readonly #wishes = new Map<object, { readonly position: () => Seq; readonly bytes: number }>();
  readonly #isTooMuch: (floor: Seq) => boolean;
  readonly #onPressure: ((full: boolean) => void) | undefined;
  readonly #onMove: () => void;
  #full = false;

  /** `isTooMuch` judges what follows a floor; `onMove` is called when the floor may have risen. */
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
    const entry: Entry = { position, alive: true };
    const entries = this.#entries;
    entries.add(entry);
    return {
      renew: () => {
        entry.alive = true;
        this.#onMove();
      },
      release: () => this.#remove(entry),
      get isLive() {
        return entries.has(entry);
      },
    };
  }

  /** A hold that gives in: it neither pauses the writer nor needs a lease. */
  addWish(position: () => Seq, bytes: number): Hold {
    const wishes = this.#wishes;
    const key = {};
    wishes.set(key, { position, bytes });
    return {
      renew: () => this.#onMove(),
      release: () => {
        if (wishes.delete(key)) this.#onMove();
      },
      get isLive() {
        return wishes.has(key);
      },
    };
  }

  /** All wishes together. */
  wish(): Wish {
    if (this.#wishes.size === 0) return NO_WISH;
    let { floor, bytes } = NO_WISH;
    for (const wish of this.#wishes.values()) {
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

  /** Tells the writer when the log became full of what holds have not read, and when it no longer is. */
  check(): void {
    if (this.#entries.size === 0 && !this.#full) return;
    const full = this.#entries.size > 0 && this.#isTooMuch(this.floor());
    if (full === this.#full) return;
    this.#full = full;
    this.#onPressure?.(full);
  }

  /** Begins a round of the lease: from here on every holder must show a sign of life. */
  beginLease(): void {
    for (const entry of this.#entries) entry.alive = false;
  }

  /** Ends a round: who gave no sign of life since it began is taken for gone. The next round begins. */
  endLease(): void {
    for (const entry of this.#entries) if (!entry.alive) this.#remove(entry);
    this.beginLease();
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#onMove();
  }
}
