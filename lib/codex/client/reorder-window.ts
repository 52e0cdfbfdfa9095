// Events that came before one that precedes them: the exec-server sends events of a process slightly out of order. Its own
// client bears 256 events or 1 MiB, of which a busy process with two streams was seen to need two thirds; this is twice that
// and more, for what no longer fits is lost when the server has let go of it too.
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

  /** Keeps an event. False when that is more than fits: then it holds nothing, and what it held must be asked for. */
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

  /** Whether an event of that type is held. */
  has(type: RawEvent["type"]): boolean {
    for (const event of this.#events.values()) if (event.type === type) return true;
    return false;
  }

  /** The event of that seq, held no longer. */
  take(seq: Seq): RawEvent | undefined {
    const event = this.#events.get(seq);
    if (event) this.#drop(event);
    return event;
  }

  /** Lets go of everything up to `seq`. */
  dropThrough(seq: Seq): void {
    for (const event of [...this.#events.values()]) if (event.seq <= seq) this.#drop(event);
  }

  /** Lets go of everything. */
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
