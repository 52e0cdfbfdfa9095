// What a replica holds of what its source sent: consecutive events and gaps, with the output bytes up to each.
import type { Delivery, GapNotice, ProcessEvent, Seq } from "../../protocol/index.ts";

/** One delivery and what it covers. */
export interface ReceivedItem {
  readonly delivery: Delivery;
  readonly firstSeq: Seq;
  /** Output bytes received up to and including this item, since the beginning of the subscription. */
  readonly offset: number;
}

/** Consecutive deliveries: append at the head, evict at the tail, find by seq. */
export class ReceivedItems {
  #items: ReceivedItem[] = [];
  #offset = 0;
  #evictedOffset = 0;

  /** The oldest seq here; undefined when there is none. */
  get firstSeq(): Seq | undefined {
    return this.#items[0]?.firstSeq;
  }

  /** Bytes of output here. */
  get bytes(): number {
    return this.#offset - this.#evictedOffset;
  }

  /** Bytes received before the oldest item. */
  get evictedOffset(): number {
    return this.#evictedOffset;
  }

  push(delivery: ProcessEvent | GapNotice): void {
    if (delivery.type === "output") this.#offset += delivery.chunk.length;
    if (delivery.type === "gap") this.#offset += delivery.bytes ?? 0;
    const firstSeq = delivery.type === "gap" ? delivery.firstSeq : delivery.seq;
    this.#items.push({ delivery: Object.freeze(compact(delivery)), firstSeq, offset: this.#offset });
  }

  /** Drops the oldest while there are more than so many bytes or items, but none that reaches beyond `floor`, and not the newest. */
  evict(maxBytes: number, maxItems: number, floor: Seq): boolean {
    let count = 0;
    while (this.bytes > maxBytes || this.#items.length - count > maxItems) {
      const item = this.#items[count] as ReceivedItem;
      if (count === this.#items.length - 1 || lastSeqOf(item.delivery) > floor) break;
      this.#evictedOffset = item.offset;
      count += 1;
    }
    // Many at once: shifting one by one would move the whole array each time.
    if (count > 0) this.#items.splice(0, count);
    return count > 0;
  }

  /** Output bytes here that follow `seq`; 0 when it was not received yet. */
  bytesAfter(seq: Seq): number {
    const newest = this.#items.at(-1);
    return newest && seq <= lastSeqOf(newest.delivery) ? this.#offset - this.offsetAt(seq) : 0;
  }

  /** Output bytes up to the item that covers `seq`; where there is none, those before the oldest. */
  offsetAt(seq: Seq): number {
    return this.find(seq)?.offset ?? this.#evictedOffset;
  }

  /** The item that covers `seq`, by binary search. */
  find(seq: Seq): ReceivedItem | undefined {
    let low = 0;
    let high = this.#items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#items[middle] as ReceivedItem).firstSeq <= seq) low = middle;
      else high = middle - 1;
    }
    const item = this.#items[low];
    return item && item.firstSeq <= seq && lastSeqOf(item.delivery) >= seq ? item : undefined;
  }
}

/** The seq that a reader of this delivery has reached. */
export function lastSeqOf(delivery: Delivery): Seq {
  return delivery.type === "gap" ? delivery.lastSeq : delivery.seq;
}

/** A chunk is a view of its frame: a small one must not keep a large frame in memory. */
function compact<D extends ProcessEvent | GapNotice>(delivery: D): D {
  if (delivery.type !== "output" || delivery.chunk.length * 2 > delivery.chunk.buffer.byteLength) return delivery;
  return { ...delivery, chunk: new Uint8Array(delivery.chunk) };
}
