// A stream of a command as its caller gets it: bytes, and text that says where something is missing.
import { present } from "../../protocol/index.ts";
import type { Encoding } from "./encoding.ts";
import { joinOmitted } from "./exec-text.ts";
import { concat, type Excerpt } from "./head-tail.ts";
import { piecesOf, textOf } from "./pieces.ts";

/** A place where bytes are missing. */
export interface Omission {
  /** Position in `bytes`. */
  readonly at: number;
  readonly bytes: number;
}

/** Captured output as plain data. */
export interface CapturedOutputJson {
  readonly text: string;
  readonly encoding: string;
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** The captured bytes, where `text` does not say what they were. */
  readonly base64?: string;
}

/** One stream, or several in a row, as it was kept, with the encoding it was found to be in. */
export interface CapturedStream {
  readonly excerpt: Excerpt;
  readonly encoding: Encoding;
}

/** What was captured. `bytes` and `text` are made when they are first asked for. */
export class CapturedOutput {
  /** The encoding of the text: a label of `TextDecoder`. `utf-8` also for what is no text. */
  readonly encoding: string;
  /** True when some bytes do not decode and are U+FFFD in `text`. */
  readonly isLossy: boolean;
  /** Bytes that were printed, captured or not. */
  readonly totalBytes: number;
  /** Those that were not captured. */
  readonly omittedBytes: number;
  readonly #streams: readonly CapturedStream[];
  #bytes: Uint8Array | undefined;
  #text: string | undefined;

  constructor(streams: readonly CapturedStream[]) {
    const sum = (count: (excerpt: Excerpt) => number) =>
      streams.reduce((total, { excerpt }) => total + count(excerpt), 0);
    this.#streams = streams;
    // An empty stream has no encoding of its own.
    const spoken = streams.find(({ excerpt }) => excerpt.head.length > 0) ?? streams[0];
    this.encoding = spoken?.encoding.label ?? "utf-8";
    this.isLossy = streams.some(({ encoding }) => encoding.isLossy);
    this.omittedBytes = sum((excerpt) => excerpt.omittedBytes);
    this.totalBytes = sum((excerpt) => excerpt.head.length + excerpt.tail.length + excerpt.omittedBytes);
  }

  /** The captured bytes: the beginning of the stream and, where something is missing, its end right behind it. */
  get bytes(): Uint8Array {
    this.#bytes ??= concat(this.#streams.flatMap(({ excerpt }) => [excerpt.head, excerpt.tail]));
    return this.#bytes;
  }

  /** Where in `bytes` something is missing. */
  get omissions(): readonly Omission[] {
    let length = 0;
    return this.#streams.flatMap(({ excerpt: { head, tail, omittedBytes } }) => {
      const at = length + head.length;
      length = at + tail.length;
      return omittedBytes === 0 ? [] : [{ at, bytes: omittedBytes }];
    });
  }

  /**
   * The text, without a byte order mark, each stream decoded by its own encoding, with a line `[... 1234 bytes omitted ...]` where something is missing.
   * Throws a RangeError for more than a string can hold (half a gigabyte), which only a full capture can be.
   */
  get text(): string {
    this.#text ??= this.#streams.map(decode).join("");
    return this.#text;
  }

  toJSON(): CapturedOutputJson {
    const { text, encoding, totalBytes, omittedBytes } = this;
    const base64 = this.isLossy ? toBase64(this.bytes) : undefined;
    return present({ text, encoding, totalBytes, omittedBytes, base64 });
  }
}

function decode({ excerpt, encoding }: CapturedStream): string {
  const [head = "", tail] = piecesOf(excerpt).map((piece) => textOf(piece, encoding.label));
  if (tail === undefined) return head;
  return joinOmitted(head, tail, excerpt.omittedBytes);
}

/** `btoa` takes characters for bytes; in slices, since a call takes a limited number of arguments. */
function toBase64(bytes: Uint8Array): string {
  const slices: string[] = [];
  for (let start = 0; start < bytes.length; start += 8192) {
    slices.push(String.fromCharCode(...bytes.subarray(start, start + 8192)));
  }
  return btoa(slices.join(""));
}
