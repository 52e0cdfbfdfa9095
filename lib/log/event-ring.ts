// A growing ring of consecutive events with the byte offset of each: append at the head, evict at the tail, look up by seq.
import type { ProcessEvent, Seq } from "../../protocol/index.ts";

/** What most commands need: two chunks, the exit and the end. */
const FIRST_CAPACITY = 4;

/** Consecutive events `first..head` in power-of-two storage; all operations take constant time. */
export class EventRing {
  #events: (ProcessEvent | undefined)[] = new Array(FIRST_CAPACITY);
  /** Output bytes up to and including the event in the same slot. */
  #offsets: number[] = new Array(FIRST_CAPACITY);
  #mask = FIRST_CAPACITY - 1;
  #first: Seq = 1;
  #head: Seq = 0;

  /** The oldest seq here; `head + 1` when empty. */
  get first(): Seq {
    return this.#first;
  }

  /** The newest seq ever pushed. */
  get head(): Seq {
    return this.#head;
  }

  /** How many events are here. */
  get length(): number {
    return this.#head - this.#first + 1;
  }

  /** Adds the event `head + 1`. `offset` counts the output bytes up to and including it. */
  push(event: ProcessEvent, offset: number): void {
    if (this.length > this.#mask) this.#grow();
    this.#head += 1;
    const slot = this.#head & this.#mask;
    this.#events[slot] = event;
    this.#offsets[slot] = offset;
  }

  /** Removes and returns the oldest event; there must be one. */
  shift(): ProcessEvent {
    const slot = this.#first & this.#mask;
    const event = this.#events[slot] as ProcessEvent;
    this.#events[slot] = undefined;
    this.#first += 1;
    return event;
  }

  /** The event `seq`, if it is here. */
  get(seq: Seq): ProcessEvent | undefined {
    return seq >= this.#first && seq <= this.#head ? this.#events[seq & this.#mask] : undefined;
  }

  /** The offset given with the event `seq`, if it is here. */
  offset(seq: Seq): number | undefined {
    return seq >= this.#first && seq <= this.#head ? this.#offsets[seq & this.#mask] : undefined;
  }

  /** Doubles the storage. Slots are `seq & mask`, so each event moves to its slot under the new mask. */
  #grow(): void {
    const capacity = (this.#mask + 1) * 2;
    const events: (ProcessEvent | undefined)[] = new Array(capacity);
    const offsets: number[] = new Array(capacity);
    for (let seq = this.#first; seq <= this.#head; seq += 1) {
      events[seq & (capacity - 1)] = this.#events[seq & this.#mask];
      offsets[seq & (capacity - 1)] = this.#offsets[seq & this.#mask] as number;
    }
    this.#events = events;
    this.#offsets = offsets;
    this.#mask = capacity - 1;
  }
}
