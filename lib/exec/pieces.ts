// The stretches of bytes that an excerpt consists of, each decoded by itself: across a hole nothing may join.
import { concat, type Excerpt } from "./head-tail.ts";

/** Bytes without a hole. */
export interface Piece {
  readonly bytes: Uint8Array;
  /** Bytes of the stream before it; above 0, the first character may have lost its beginning. */
  readonly offset: number;
  /** The last character may have lost its end. */
  readonly isCutAtEnd: boolean;
}

/** One piece, or two with the hole between them. */
export function piecesOf({ head, tail, omittedBytes }: Excerpt): Piece[] {
  if (omittedBytes === 0) {
    // Without a tail there is nothing to join, nor to copy: a full capture may be large.
    return [{ bytes: tail.length === 0 ? head : concat([head, tail]), offset: 0, isCutAtEnd: false }];
  }
  return [
    { bytes: head, offset: 0, isCutAtEnd: true },
    { bytes: tail, offset: head.length + omittedBytes, isCutAtEnd: false },
  ];
}

/** Decodes a piece, without the remains of characters that a cut has hit; what else is wrong becomes U+FFFD. */
export function textOf(piece: Piece, label: string): string {
  const text = new TextDecoder(label).decode(withoutOpenStart(piece, label), { stream: piece.isCutAtEnd });
  if (label !== "windows-1252") return text;
  return text.replace(C1_CONTROLS, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
}

/**
 * Node 20 decodes windows-1252 as ISO 8859-1 (https://github.com/nodejs/node/issues/56542): quotes and dashes become invisible
 * controls. These are what the bytes 0x80 to 0x9F stand for; the five that stand for nothing stay as they are.
 */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const C1_CONTROLS = /[\x80-\x9f]/g;

/** Checked in slices: a text of many megabytes is not made only to be thrown away. */
const SLICE_BYTES = 256 * 1024;

/** Whether every byte of a piece decodes, apart from characters that a cut has hit. */
export function isClean(piece: Piece, label: string): boolean {
  const bytes = withoutOpenStart(piece, label);
  const decoder = new TextDecoder(label, { fatal: true });
  try {
    for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
      const isLast = start + SLICE_BYTES >= bytes.length;
      decoder.decode(bytes.subarray(start, start + SLICE_BYTES), { stream: !isLast || piece.isCutAtEnd });
    }
    return true;
  } catch {
    return false;
  }
}

/** Where characters announce their length, or all have the same, the first whole one can be found. */
function withoutOpenStart({ bytes, offset }: Piece, label: string): Uint8Array {
  if (offset === 0) return bytes;
  if (label.startsWith("utf-16")) return bytes.subarray(offset % 2);
  if (label !== "utf-8") return bytes;
  const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
