// A captured stream for the caller: its bytes, and its text with a marker where bytes are missing.
import { present } from "../../../protocol/index.ts";
import { joinOmitted } from "../../process/omission-mark.ts";
import { concat, type Excerpt } from "../head-tail.ts";
import type { Encoding } from "./encoding.ts";
import { segmentsOf, textOf } from "./segments.ts";

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
  /** The captured bytes, if `text` does not represent them exactly. */
  readonly base64?: string;
}

/** The excerpt of a stream and its detected encoding. */
export interface CapturedStream {
  readonly excerpt: Excerpt;
  readonly encoding: Encoding;
}

/** Captured output. `bytes` and `text` are computed on first use. */
export class CapturedOutput {
  /** The encoding of the text, a `TextDecoder` label. `utf-8` also for binary output. */
  readonly encoding: string;
  /** True when some bytes could not be decoded and are U+FFFD in `text`. */
  readonly isLossy: boolean;
  /** Bytes that were printed, captured or not. */
  readonly totalBytes: number;
  /** Bytes that were not captured. */
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

  /** The captured bytes: the beginning of the stream, followed directly by its end if bytes between them are missing. */
  get bytes(): Uint8Array {
    this.#bytes ??= concat(this.#streams.flatMap(({ excerpt }) => [excerpt.head, excerpt.tail]));
    return this.#bytes;
  }

  /** Where bytes are missing in `bytes`. */
  get omissions(): readonly Omission[] {
    let length = 0;
    return this.#streams.flatMap(({ excerpt: { head, tail, omittedBytes } }) => {
      const at = length + head.length;
      length = at + tail.length;
      return omittedBytes === 0 ? [] : [{ at, bytes: omittedBytes }];
    });
  }

  /**
   * The text, each stream decoded with its own encoding; a byte order mark is a character of it. A line `[... 1234 bytes omitted ...]` stands
   * for missing bytes. Throws a RangeError if it exceeds the longest string (half a gigabyte); only a full capture can.
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
  const [head = "", tail] = segmentsOf(excerpt).map((segment) => textOf(segment, encoding.label));
  if (tail === undefined) return head;
  return joinOmitted(head, tail, excerpt.omittedBytes);
}

/** `btoa` expects a string with one character per byte. In slices, since a call has a limited number of arguments. */
function toBase64(bytes: Uint8Array): string {
  const slices: string[] = [];
  for (let start = 0; start < bytes.length; start += 8192) {
    slices.push(String.fromCharCode(...bytes.subarray(start, start + 8192)));
  }
  return btoa(slices.join(""));
}
