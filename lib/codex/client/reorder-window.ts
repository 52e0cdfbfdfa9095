// Events that arrived ahead of their turn: the exec-server sends the events of a process slightly out of order. Its own client
// holds 256 events or 1 MiB, and a busy process with two streams needed two thirds of that (measured). This window is larger:
// events that do not fit are lost if the server has evicted them too.
import type { Seq } from "../../../protocol/index.ts";
import type { RawEvent } from "./answers.ts";

const MAX_EVENTS = 512;
const MAX_BYTES = 4 * 1024 * 1024;

/** Holds events until it is their turn. */
export class ReorderWindow {
  readonly #events = new Map<Seq, RawEvent>();
  #bytes = 0;

  get size(): number {
    return this.#events.size;
  }

  /** Adds an event. Returns false if it does not fit: the window is then empty, and a read must return its events. */
  put(event: RawEvent): boolean {
    if (this.#events.has(event.seq)) return true;
    this.#events.set(event.seq, event);
    this.#bytes += sizeOf(event);
    if (this.#events.size <= MAX_EVENTS && this.#bytes <= MAX_BYTES) return true;
    this.clear();
    return false;
  }

  [Symbol.iterator](): Iterator<RawEvent> {
    return this.#events.values();
  }

  /** Whether the window has an event of that type. */
  has(type: RawEvent["type"]): boolean {
    for (const event of this.#events.values()) if (event.type === type) return true;
    return false;
  }

  /** Removes and returns the event with that seq. */
  take(seq: Seq): RawEvent | undefined {
    const event = this.#events.get(seq);
    if (event) this.#drop(event);
    return event;
  }

  /** Drops everything up to `seq`. */
  dropThrough(seq: Seq): void {
    for (const event of [...this.#events.values()]) if (event.seq <= seq) this.#drop(event);
  }

  /** Drops everything. */
  clear(): void {
    this.#events.clear();
    this.#bytes = 0;
  }

  #drop(event: RawEvent): void {
    this.#events.delete(event.seq);
    this.#bytes -= sizeOf(event);
  }
}

function sizeOf(event: RawEvent): number {
  return event.type === "output" ? event.chunk.length : 0;
}
