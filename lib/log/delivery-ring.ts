// A ring of consecutive deliveries that grows, with the byte offset of each: append at the head, evict at the tail, find by seq.
import type { Delivery, GapNotice, Seq } from "../../protocol/index.ts";

/** Enough for most commands: two chunks, the exit and the end. */
const FIRST_CAPACITY = 4;

/** Deliveries that cover `first..head`, in power-of-two storage. Constant time, except for a look-up among wide gaps. */
export class DeliveryRing {
  #items: (Delivery | undefined)[] = new Array(FIRST_CAPACITY);
  /** Output bytes up to and including the delivery in the same slot. */
  #offsets: number[] = new Array(FIRST_CAPACITY);
  #mask = FIRST_CAPACITY - 1;
  /** Indices of the oldest and the newest item; the slot of an item is `index & mask`. */
  #oldest = 1;
  #newest = 0;
  /** True until a gap covers more than one seq: the index of an event is its seq. */
  #isDense = true;
  #first: Seq = 1;
  #head: Seq = 0;
  #bytes = 0;
  #headOffset = 0;
  #evictedOffset = 0;
  /** False once an unknown number of bytes was lost. */
  #isExact = true;

  /** The oldest seq retained; `head + 1` when empty. */
  get first(): Seq {
    return this.#first;
  }

  /** The newest seq ever pushed. */
  get head(): Seq {
    return this.#head;
  }

  /** Number of deliveries retained. */
  get length(): number {
    return this.#newest - this.#oldest + 1;
  }

  /** Output bytes retained. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends the event `head + 1`, or a gap that begins there. Returns its output bytes. */
  push(delivery: Delivery): number {
    if (this.length > this.#mask) this.#grow();
    const bytes = delivery.type === "output" ? delivery.chunk.length : 0;
    this.#bytes += bytes;
    this.#headOffset += bytes;
    if (delivery.type === "gap") this.#skip(delivery);
    else this.#head += 1;
    this.#newest += 1;
    const slot = this.#newest & this.#mask;
    this.#items[slot] = delivery;
    this.#offsets[slot] = this.#headOffset;
    return bytes;
  }

  /** Removes the oldest delivery; there must be one. Returns its output bytes. */
  shift(): number {
    const slot = this.#oldest & this.#mask;
    const delivery = this.#items[slot] as Delivery;
    const bytes = delivery.type === "output" ? delivery.chunk.length : 0;
    this.#items[slot] = undefined;
    this.#oldest += 1;
    this.#first = lastSeqOf(delivery) + 1;
    this.#evictedOffset = this.#offsets[slot] as number;
    this.#bytes -= bytes;
    return bytes;
  }

  /** Becomes as new: empty, with seqs from 1 on. */
  clear(): void {
    this.#items = new Array(FIRST_CAPACITY);
    this.#offsets = new Array(FIRST_CAPACITY);
    this.#mask = FIRST_CAPACITY - 1;
    this.#oldest = this.#first = 1;
    this.#newest = this.#head = 0;
    this.#bytes = this.#headOffset = this.#evictedOffset = 0;
    this.#isDense = this.#isExact = true;
  }

  /** The event `seq`, or the rest, from `seq` on, of the gap that covers it; one of them must be retained. */
  get(seq: Seq): Delivery {
    const delivery = this.#items[this.#indexOf(seq) & this.#mask] as Delivery;
    if (this.#isDense) return delivery;
    return delivery.type !== "gap" || delivery.firstSeq === seq ? delivery : gap(seq, delivery.lastSeq);
  }

  /** Output bytes up to and including `seq`, if known. */
  offsetAfter(seq: Seq): number | undefined {
    if (seq === 0) return 0;
    if (!this.#isExact || seq < this.#first - 1 || seq > this.#head) return undefined;
    if (seq === this.#first - 1) return this.#evictedOffset;
    const slot = this.#indexOf(seq) & this.#mask;
    return lastSeqOf(this.#items[slot] as Delivery) === seq ? this.#offsets[slot] : undefined;
  }

  /** Known output bytes up to and including the delivery that covers `seq`; before the oldest delivery, the evicted bytes. */
  bytesUpTo(seq: Seq): number {
    if (seq >= this.#head) return this.#headOffset;
    return seq < this.#first ? this.#evictedOffset : (this.#offsets[this.#indexOf(seq) & this.#mask] as number);
  }

  /** The last seq of the delivery that covers `seq`; `seq` itself where none is retained. */
  endOf(seq: Seq): Seq {
    if (this.#isDense || seq < this.#first || seq > this.#head) return seq;
    return lastSeqOf(this.#items[this.#indexOf(seq) & this.#mask] as Delivery);
  }

  #skip({ lastSeq, bytes }: GapNotice): void {
    this.#isDense &&= lastSeq === this.#head + 1;
    this.#head = lastSeq;
    this.#headOffset += bytes ?? 0;
    this.#isExact &&= bytes !== undefined;
  }

  #indexOf(seq: Seq): number {
    return this.#isDense ? seq : this.#search(seq);
  }

  #search(seq: Seq): number {
    // Each item covers one seq at least, so no more items than seqs lie between `seq` and either end.
    let low = Math.max(this.#oldest, this.#newest - (this.#head - seq));
    let high = Math.min(this.#newest, this.#oldest + (seq - this.#first));
    while (low < high) {
      const middle = low + ((high - low + 1) >> 1);
      if (firstSeqOf(this.#items[middle & this.#mask] as Delivery) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Doubles the storage; each item moves to its slot under the new mask. */
  #grow(): void {
    const capacity = (this.#mask + 1) * 2;
    const items: (Delivery | undefined)[] = new Array(capacity);
    const offsets: number[] = new Array(capacity);
    for (let index = this.#oldest; index <= this.#newest; index += 1) {
      items[index & (capacity - 1)] = this.#items[index & this.#mask];
      offsets[index & (capacity - 1)] = this.#offsets[index & this.#mask] as number;
    }
    this.#items = items;
    this.#offsets = offsets;
    this.#mask = capacity - 1;
  }
}

/** The first seq that a delivery covers. */
export function firstSeqOf(delivery: Delivery): Seq {
  return delivery.type === "gap" ? delivery.firstSeq : delivery.seq;
}

/** The last seq that a delivery covers. */
export function lastSeqOf(delivery: Delivery): Seq {
  return delivery.type === "gap" ? delivery.lastSeq : delivery.seq;
}

/** The loss of a range; the cursor adds the number of bytes. */
export function gap(firstSeq: Seq, lastSeq: Seq): Delivery {
  return Object.freeze({ type: "gap", firstSeq, lastSeq });
}
