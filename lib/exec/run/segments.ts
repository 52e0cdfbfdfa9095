// The segments of an excerpt, each decoded by itself: bytes before and after a hole must not form a character.
import { concat, type Excerpt } from "../head-tail.ts";

/** Bytes without a hole. */
export interface Segment {
  readonly bytes: Uint8Array;
  /** Its offset in the stream in bytes; above 0, its first character may be incomplete. */
  readonly offset: number;
  /** Its last character may be incomplete. */
  readonly isCutAtEnd: boolean;
}

/** One segment, or two with the hole between them. */
export function segmentsOf({ head, tail, omittedBytes }: Excerpt): Segment[] {
  if (omittedBytes === 0) {
    // Without a tail, avoid the copy: a full capture may be large.
    return [{ bytes: tail.length === 0 ? head : concat([head, tail]), offset: 0, isCutAtEnd: false }];
  }
  return [
    { bytes: head, offset: 0, isCutAtEnd: true },
    { bytes: tail, offset: head.length + omittedBytes, isCutAtEnd: false },
  ];
}

/** Decodes a segment without the incomplete characters at its cuts; other invalid bytes become U+FFFD. */
export function textOf(segment: Segment, label: string): string {
  const text = new TextDecoder(label, { ignoreBOM: true }).decode(fromFirstCharacter(segment, label), {
    stream: segment.isCutAtEnd,
  });
  if (label !== "windows-1252") return text;
  return text.replace(C1_CONTROLS, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
}

/**
 * Node 20 decodes windows-1252 as ISO 8859-1 (https://github.com/nodejs/node/issues/56542): quotes and dashes become invisible
 * controls. These are the characters of the bytes 0x80 to 0x9F; the five unassigned bytes are kept.
 */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const C1_CONTROLS = /[\x80-\x9f]/g;

/** Checked in slices, to avoid building a text of many megabytes only for the check. */
const SLICE_BYTES = 256 * 1024;

/** Whether every byte of a segment can be decoded, apart from incomplete characters at its cuts. */
export function decodesCleanly(segment: Segment, label: string): boolean {
  const bytes = fromFirstCharacter(segment, label);
  const decoder = new TextDecoder(label, { fatal: true });
  try {
    for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
      const isLast = start + SLICE_BYTES >= bytes.length;
      decoder.decode(bytes.subarray(start, start + SLICE_BYTES), { stream: !isLast || segment.isCutAtEnd });
    }
    return true;
  } catch {
    return false;
  }
}

/** The bytes from the first complete character on. It can be found only in UTF-8 and UTF-16; otherwise all bytes. */
function fromFirstCharacter({ bytes, offset }: Segment, label: string): Uint8Array {
  if (offset === 0) return bytes;
  if (label.startsWith("utf-16")) return bytes.subarray(offset % 2);
  if (label !== "utf-8") return bytes;
  const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
