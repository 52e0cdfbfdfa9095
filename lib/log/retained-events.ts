// What a log retains: the ring of its newest deliveries within bounds of its own, and of the memory budget that it shares. The
// holds of readers decide what must stay beyond the bounds.
import { type Delivery, limits, type Seq } from "../../protocol/index.ts";
import { DeliveryRing } from "./delivery-ring.ts";
import { MemoryBudget } from "./memory-budget.ts";

/** Bounds of a log, and the budget that it shares with other logs. */
export interface RetentionBounds {
  readonly retainedBytes?: number;
  readonly retainedEvents?: number;
  readonly chunkBytes?: number;
  /** Output that readers with a hold may leave unread before the writer must pause. Default: leaves room for reads in flight. */
  readonly pauseAtBytes?: number;
  readonly eventOverheadBytes?: number;
  readonly budget?: MemoryBudget;
}

/** Whether a hold keeps `seq` in a log that retains so many bytes; an infinite number means that it is over another bound. */
type Keeps = (seq: Seq, retainedBytes: number) => boolean;

/** The retained deliveries of one log. */
export class RetainedEvents {
  /** Most bytes of one event. */
  readonly chunkBytes: number;
  readonly ring = new DeliveryRing();
  readonly #keeps: Keeps;
  readonly #budget: MemoryBudget;
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  readonly #pauseAtBytes: number;
  /** Room for reads in flight: two of each stream. */
  readonly #reserve: number;
  readonly #overhead: number;
  /** Bytes added while the shared budget was exceeded that this log still has to evict. */
  #overBudgetBytes = 0;

  constructor(bounds: RetentionBounds, keeps: Keeps) {
    this.#keeps = keeps;
    this.#maxBytes = bounds.retainedBytes ?? limits.retainedBytes;
    this.#maxEvents = bounds.retainedEvents ?? limits.retainedEvents;
    this.chunkBytes = Math.max(1, Math.min(bounds.chunkBytes ?? limits.chunkBytes, this.#maxBytes));
    this.#reserve = Math.min(4 * this.chunkBytes, this.#maxBytes / 2);
    this.#pauseAtBytes = bounds.pauseAtBytes ?? this.#maxBytes - this.#reserve;
    this.#overhead = bounds.eventOverheadBytes ?? limits.eventOverheadBytes;
    this.#budget = bounds.budget ?? new MemoryBudget(Number.POSITIVE_INFINITY);
  }

  /** Bytes charged to the memory budget: payload and overhead. */
  get cost(): number {
    return this.ring.bytes + this.ring.length * this.#overhead;
  }

  /** Adds a delivery at the head, and evicts what no longer fits. */
  push(delivery: Delivery): void {
    const added = this.ring.push(delivery) + this.#overhead;
    this.#budget.add(added);
    this.evict(added);
  }

  /** Evicts down to the bounds. While the budget is exceeded, a log evicts as much as it adds; what a hold keeps, once it moves. */
  evict(added: number): void {
    this.#overBudgetBytes = this.#budget.over ? Math.max(0, this.#overBudgetBytes) + added : 0;
    if (!this.#isOver() && this.#overBudgetBytes === 0) return;
    while (this.#isOver() || (this.#budget.over && this.#overBudgetBytes > 0)) {
      // The newest event stays, however small the bounds.
      if (this.ring.length <= 1 || this.#keeps(this.ring.first, this.#demand)) return;
      this.#overBudgetBytes -= this.#shift();
    }
  }

  /** Evicts everything that no hold keeps, but not the newest event. */
  trim(): void {
    while (this.ring.length > 1 && !this.#keeps(this.ring.first, 0)) this.#shift();
  }

  /** Drops everything, as if nothing had been written. */
  clear(): void {
    this.forget();
    this.ring.clear();
  }

  /** Gives its share of the budget back. */
  forget(): void {
    this.#budget.add(-this.cost);
  }

  /** Known output bytes after the delivery that covers `seq`; evicted ones do not count. */
  bytesAfter(seq: Seq): number {
    return this.ring.bytesUpTo(this.ring.head) - this.ring.bytesUpTo(seq);
  }

  /** Whether the events after `floor`, which must stay, leave too little room. */
  isFullAfter(floor: Seq): boolean {
    const unread = this.bytesAfter(floor);
    if (unread > this.#pauseAtBytes || this.ring.head - floor > this.#maxEvents * 0.9) return true;
    return this.#budget.over && unread > this.#reserve;
  }

  /** Returns the bytes that this frees in the budget. */
  #shift(): number {
    const bytes = this.ring.shift() + this.#overhead;
    this.#budget.add(-bytes);
    return bytes;
  }

  /** Compared with the bounds of holds, which may exceed the log's own bound in bytes, but not that in events, nor the budget. */
  get #demand(): number {
    return this.#budget.over || this.ring.length > this.#maxEvents ? Number.POSITIVE_INFINITY : this.ring.bytes;
  }

  #isOver(): boolean {
    return this.ring.bytes > this.#maxBytes || this.ring.length > this.#maxEvents;
  }
}
