// The lossless readers of a log: the lowest of their positions is the floor of eviction, and the reason to pause the writer.
import type { Seq } from "../../protocol/index.ts";
import type { Hold } from "./log-view.ts";

interface Entry {
  readonly position: () => Seq;
  alive: boolean;
}

/** Positions that must not be evicted, with back-pressure while they fill the log. */
export class HoldSet {
  readonly #entries = new Set<Entry>();
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
