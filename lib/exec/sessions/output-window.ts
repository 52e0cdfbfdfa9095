// The output in one answer: its beginning and its end within a number of bytes, as text. It is cut between characters. Every byte
// is shown, counted as omitted, or an incomplete character that waits for its rest.
import type { StreamName } from "../../../protocol/index.ts";
import { concat, HeadTail } from "../head-tail.ts";

/** The incomplete character at the end of each stream: both streams may be in the middle of one. */
export type Partials = ReadonlyMap<StreamName, Uint8Array>;

/** The output of an answer. */
export interface WindowText {
  readonly head: string;
  readonly tail: string;
  readonly omittedBytes: number;
  /** False when an unknown number of bytes was lost. */
  readonly isExact: boolean;
  /** To be passed to the next window. */
  readonly partials: Partials;
}

/** Collects output of any length, and keeps as much of its head and tail as fits. */
export class OutputWindow {
  readonly #maxBytes: number;
  readonly #partials: Map<StreamName, Uint8Array>;
  #kept: HeadTail;
  /** The head, fixed once bytes after it are lost. */
  #front: Uint8Array | undefined;
  #lostBytes = 0;
  #isExact = true;

  constructor(maxBytes: number, partials: Partials = new Map()) {
    this.#maxBytes = maxBytes;
    this.#kept = new HeadTail(maxBytes);
    this.#partials = new Map(partials);
  }

  /** Adds the next chunk of a stream. */
  add(stream: StreamName, chunk: Uint8Array): void {
    const before = this.#partials.get(stream);
    const bytes = before ? concat([before, chunk]) : chunk;
    const end = bytes.length - incompleteBytes(bytes);
    if (end === bytes.length) this.#partials.delete(stream);
    else this.#partials.set(stream, bytes.slice(end));
    this.#kept.push(bytes.subarray(0, end));
  }

  /**
   * Records that bytes are lost here; undefined if their number is not known. An answer has only one place for omissions, so all
   * output between its head and this place is omitted too.
   */
  lose(bytes: number | undefined): void {
    if (bytes === 0) return;
    this.#isExact &&= bytes !== undefined;
    this.#lostBytes += (bytes ?? 0) + this.#kept.totalBytes;
    for (const partial of this.#partials.values()) this.#lostBytes += partial.length;
    this.#partials.clear();
    if (!this.#front) {
      this.#front = this.#kept.excerpt().head;
      this.#lostBytes -= this.#front.length;
    }
    // All that follows is tail and gets the room that the head leaves. Twice that, since a tail is half of an excerpt.
    this.#kept = new HeadTail(2 * (this.#maxBytes - this.#front.length));
    this.#kept.interrupt();
  }

  /** Returns the output as text. At the end of the output, incomplete characters are included: their rest will not come. */
  finish(isEnd: boolean): WindowText {
    if (isEnd) {
      for (const partial of this.#partials.values()) this.#kept.push(partial);
      this.#partials.clear();
    }
    const { head, tail, omittedBytes } = this.#kept.excerpt(this.#lostBytes);
    const [isExact, partials] = [this.#isExact, this.#partials];
    if (omittedBytes === 0 && isExact)
      return { head: decode(concat([head, tail])), tail: "", omittedBytes, isExact, partials };
    const front = this.#front ?? head;
    const end = front.length - incompleteBytes(front);
    const start = continuationBytes(tail);
    return {
      head: decode(front.subarray(0, end)),
      tail: decode(tail.subarray(start)),
      omittedBytes: omittedBytes + front.length - end + start,
      isExact,
      partials,
    };
  }
}

/** The number of bytes at the end that belong to an incomplete character. */
function incompleteBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (!isContinuation(byte)) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

/** The number of bytes at the beginning that belong to a character that began before. */
function continuationBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && isContinuation(bytes[count] as number)) count += 1;
  return count;
}

/** The length of the character that a byte begins, by RFC 3629; 1 for a byte that begins none. */
function lengthOf(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
