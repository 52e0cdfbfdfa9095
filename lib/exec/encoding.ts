// In which encoding a program has printed. Nearly always UTF-8; else a guess from the bytes, for tools that came from Windows
// and for old locales. What is no text at all stays UTF-8 with replacement characters.
import { concat, type Excerpt } from "./head-tail.ts";
import { isClean, type Piece, piecesOf } from "./pieces.ts";

/** How to decode a stream. */
export interface Encoding {
  /** A label that `TextDecoder` knows. */
  readonly label: string;
  /** Some bytes do not decode, and are U+FFFD in the text. */
  readonly isLossy: boolean;
}

const DAMAGED: Encoding = { label: "utf-8", isLossy: true };

/**
 * Encodings that consoles are set to, by the detector's name. Few, so that a guess from a short text is a good one: the
 * detector knows a hundred, most of which no console ever had.
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

/** Enough to tell an encoding by, and guessed from within some 50 ms. */
const SAMPLE_BYTES = 64 * 1024;
/** A word or two before and after. */
const CONTEXT_BYTES = 16;
/** Damaged UTF-8 has at least so many good characters beyond ASCII for each bad byte. In other encodings it is the reverse. */
const GOOD_PER_BAD = 4;
/** In windows-1252 the quotes, bullet, dashes and trade mark; in other encodings letters, so a detector errs in short texts. */
const SMART_PUNCTUATION = [0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99];

/** Finds the encoding of a stream. The detector (13 MB, 100 ms) is loaded only for what is not UTF-8. */
export async function encodingOf(excerpt: Excerpt): Promise<Encoding> {
  const pieces = piecesOf(excerpt);
  const odd = pieces.find((piece) => !isClean(piece, "utf-8"));
  if (!odd) return { label: "utf-8", isLossy: false };
  if (isDamagedUtf8(odd)) return DAMAGED;
  const label = byteOrderMark(pieces[0]) ?? (await guess(oddParts(odd.bytes)));
  if (label === undefined) return DAMAGED;
  const cleanPieces = pieces.filter((piece) => isClean(piece, label)).length;
  // Where a cut hit the middle of a character, bad bytes say nothing against the guess.
  if (cleanPieces < pieces.length && excerpt.omittedBytes === 0) return DAMAGED;
  return { label, isLossy: cleanPieces < pieces.length };
}

function isDamagedUtf8({ bytes, isCutAtEnd }: Piece): boolean {
  const start = Math.max(0, findHigh(bytes, 0));
  const sample = bytes.subarray(start, start + SAMPLE_BYTES);
  const text = new TextDecoder().decode(sample, { stream: isCutAtEnd || start + SAMPLE_BYTES < bytes.length });
  const bad = text.match(/\uFFFD/g)?.length ?? 0;
  const good = (text.match(/[\u0080-\u{10FFFF}]/gu)?.length ?? 0) - bad;
  // The program was ended in the middle of a character.
  if (bad === 1 && text.endsWith("\uFFFD")) return good > 0;
  return good >= GOOD_PER_BAD * bad;
}

function byteOrderMark(first: Piece | undefined): string | undefined {
  const mark = first ? first.bytes.subarray(0, 2).join() : "";
  return mark === "255,254" ? "utf-16le" : mark === "254,255" ? "utf-16be" : undefined;
}

/** What is not ASCII, with a few bytes around it. More of them is English in every country, and would decide the guess. */
function oddParts(bytes: Uint8Array): Uint8Array {
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
  // Of two that fit equally well, the one that more people use.
  const western = others.find(({ encoding }) => encoding === "Windows-1252");
  return CANDIDATES[western?.confidence === best.confidence ? "Windows-1252" : best.encoding];
}

function hasSmartPunctuation(bytes: Uint8Array): boolean {
  const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return bytes.every((byte) => !isHigh(byte) || SMART_PUNCTUATION.includes(byte)) && bytes.some(isLetter);
}
