// Keeps the beginning and the end of a stream within a bound, and counts the bytes between them. Both ends, since a program first
// prints what it does and last how it went: a beginning alone would lose the error.
//
// Invariants
// 1. `head` and `tail` are the first and the last bytes of the stream, each without a hole; all missing bytes lie between them.
// 2. Together they never exceed the bound. Without an interruption, nothing is omitted before they fill it.

/** The part of a stream that was kept. */
export interface Excerpt {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Bytes between the two that were not kept. */
  readonly omittedBytes: number;
}

/** Builds an excerpt of a stream as it arrives. Memory is bounded by `capBytes`, independent of the size of the chunks. */
export class HeadTail {
  readonly #capBytes: number;
  readonly #head = new Bytes();
  #tail: Bytes | Ring | undefined;
  #headBytes: number;
  #totalBytes = 0;

  /** With `Infinity` as the bound, nothing is omitted. */
  constructor(capBytes: number) {
    this.#capBytes = capBytes;
    this.#headBytes = Math.ceil(capBytes / 2);
  }

  /** Bytes that were pushed, kept or not. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Appends a chunk; the bytes to keep are copied. */
  push(chunk: Uint8Array): void {
    this.#totalBytes += chunk.length;
    const room = Math.max(0, this.#headBytes - this.#head.length);
    if (room > 0) this.#head.push(chunk.subarray(0, room));
    if (chunk.length <= room) return;
    this.#tail ??= this.#capBytes === Number.POSITIVE_INFINITY ? new Bytes() : new Ring(Math.floor(this.#capBytes / 2));
    this.#tail.push(chunk.subarray(room));
  }

  /** Marks a place where bytes are missing that were never pushed: what follows must not join the head. */
  interrupt(): void {
    this.#headBytes = Math.min(this.#headBytes, this.#head.length);
  }

  /** The excerpt so far. `lostBytes` counts bytes of the stream that were never pushed. */
  excerpt(lostBytes = 0): Excerpt {
    const head = this.#head.bytes();
    const tail = this.#tail?.bytes() ?? new Uint8Array();
    return { head, tail, omittedBytes: this.#totalBytes + lostBytes - head.length - tail.length };
  }
}

const FIRST_CAPACITY = 8 * 1024;

/** A growing buffer. It doubles when full, so that many small chunks cost no more than their bytes. */
class Bytes {
  #buffer = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2, FIRST_CAPACITY));
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** A ring buffer of the last bytes pushed. */
class Ring {
  readonly #buffer: Uint8Array;
  /** Where the next byte goes. */
  #end = 0;
  #isFull = false;

  constructor(capacity: number) {
    this.#buffer = new Uint8Array(capacity);
  }

  push(chunk: Uint8Array): void {
    const capacity = this.#buffer.length;
    const kept = chunk.subarray(Math.max(0, chunk.length - capacity));
    const untilWrap = kept.subarray(0, capacity - this.#end);
    this.#buffer.set(untilWrap, this.#end);
    this.#buffer.set(kept.subarray(untilWrap.length));
    this.#isFull ||= this.#end + kept.length >= capacity;
    this.#end = capacity === 0 ? 0 : (this.#end + kept.length) % capacity;
  }

  bytes(): Uint8Array {
    if (!this.#isFull) return this.#buffer.slice(0, this.#end);
    return concat([this.#buffer.subarray(this.#end), this.#buffer.subarray(0, this.#end)]);
  }
}

/** Joins byte arrays. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let length = 0;
  for (const part of parts) {
    whole.set(part, length);
    length += part.length;
  }
  return whole;
}
