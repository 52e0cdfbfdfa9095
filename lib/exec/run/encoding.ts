// Detects the encoding of a program's output. Nearly always UTF-8; otherwise a guess from the bytes, for tools from Windows and
// for old locales. Binary output is decoded as UTF-8 with replacement characters.
import { concat, type Excerpt } from "../head-tail.ts";
import { decodesCleanly, type Segment, segmentsOf } from "./segments.ts";

/** How to decode a stream. */
export interface Encoding {
  /** A label that `TextDecoder` knows. */
  readonly label: string;
  /** Some bytes cannot be decoded and are U+FFFD in the text. */
  readonly isLossy: boolean;
}

const DAMAGED: Encoding = { label: "utf-8", isLossy: true };

/**
 * Encodings of consoles, by the detector's name. Few, so that a guess from a short text is good: the detector knows a hundred,
 * most of which no console uses.
 */
const CANDIDATES: Readonly<Record<string, string>> = {
  "Windows-1252": "windows-1252",
  "Windows-1250": "windows-1250",
  "Windows-1251": "windows-1251",
  "Windows-1253": "windows-1253",
  "Windows-1254": "windows-1254",
  "Windows-1255": "windows-1255",
  "Windows-1256": "windows-1256",
  IBM866: "ibm866",
  "KOI8-R": "koi8-r",
  GB18030: "gb18030",
  Big5: "big5",
  CP932: "shift_jis",
  CP949: "euc-kr",
  "EUC-JP": "euc-jp",
};

/** Enough to detect an encoding; takes the detector about 50 ms. */
const SAMPLE_BYTES = 64 * 1024;
/** A word or two before and after each non-ASCII byte. */
const CONTEXT_BYTES = 16;
/** Damaged UTF-8 has at least this many valid non-ASCII characters for each bad byte. In other encodings it is the reverse. */
const GOOD_PER_BAD = 4;
/** Quotes, bullet, dashes and trade mark in windows-1252. They are letters in other encodings, which misleads the detector. */
const SMART_PUNCTUATION = [0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99];

/** Detects the encoding of a stream. The detector (13 MB, 100 ms) is loaded only if the stream is not UTF-8. */
export async function encodingOf(excerpt: Excerpt): Promise<Encoding> {
  const segments = segmentsOf(excerpt);
  const notUtf8 = segments.find((segment) => !decodesCleanly(segment, "utf-8"));
  if (!notUtf8) return { label: "utf-8", isLossy: false };
  if (isDamagedUtf8(notUtf8)) return DAMAGED;
  const label = byteOrderMark(segments[0]) ?? (await guess(nonAsciiParts(notUtf8.bytes)));
  if (label === undefined) return DAMAGED;
  const cleanCount = segments.filter((segment) => decodesCleanly(segment, label)).length;
  // If bytes are omitted, bad bytes may be halves of characters, and do not refute the guess.
  if (cleanCount < segments.length && excerpt.omittedBytes === 0) return DAMAGED;
  return { label, isLossy: cleanCount < segments.length };
}

function isDamagedUtf8({ bytes, isCutAtEnd }: Segment): boolean {
  const start = Math.max(0, findHigh(bytes, 0));
  const sample = bytes.subarray(start, start + SAMPLE_BYTES);
  const text = new TextDecoder().decode(sample, { stream: isCutAtEnd || start + SAMPLE_BYTES < bytes.length });
  const bad = text.match(/\uFFFD/g)?.length ?? 0;
  const good = (text.match(/[\u0080-\u{10FFFF}]/gu)?.length ?? 0) - bad;
  // The output ends in the middle of a character: the program was killed.
  if (bad === 1 && text.endsWith("\uFFFD")) return good > 0;
  return good >= GOOD_PER_BAD * bad;
}

function byteOrderMark(first: Segment | undefined): string | undefined {
  const mark = first ? first.bytes.subarray(0, 2).join() : "";
  return mark === "255,254" ? "utf-16le" : mark === "254,255" ? "utf-16be" : undefined;
}

/** The non-ASCII bytes with some context. Longer context is mostly English in every country, and would dominate the guess. */
function nonAsciiParts(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  let end = 0;
  for (let at = findHigh(bytes, 0); at >= 0 && length < SAMPLE_BYTES; at = findHigh(bytes, end)) {
    const start = Math.max(end, at - CONTEXT_BYTES);
    end = at + 1;
    for (let next = end; next < Math.min(bytes.length, end + CONTEXT_BYTES, at + SAMPLE_BYTES); next += 1) {
      if (isHigh(bytes[next] as number)) end = next + 1;
    }
    end = Math.min(bytes.length, end + CONTEXT_BYTES);
    parts.push(bytes.subarray(start, end));
    length += end - start;
  }
  return concat(parts);
}

function findHigh(bytes: Uint8Array, from: number): number {
  const found = bytes.subarray(from).findIndex(isHigh);
  return found < 0 ? -1 : from + found;
}

function isHigh(byte: number): boolean {
  return byte > 0x7f;
}

async function guess(sample: Uint8Array): Promise<string | undefined> {
  if (hasSmartPunctuation(sample)) return "windows-1252";
  const { detectAll } = await import("jschardet");
  const [best, ...others] = detectAll(sample, { detectEncodings: Object.keys(CANDIDATES), minimumThreshold: 0 });
  if (!best?.encoding) return undefined;
  // If another encoding fits no better, prefer windows-1252, which is more common.
  const western = others.find(({ encoding }) => encoding === "Windows-1252");
  return CANDIDATES[western?.confidence === best.confidence ? "Windows-1252" : best.encoding];
}

function hasSmartPunctuation(bytes: Uint8Array): boolean {
  const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return bytes.every((byte) => !isHigh(byte) || SMART_PUNCTUATION.includes(byte)) && bytes.some(isLetter);
}
