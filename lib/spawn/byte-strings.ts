// Decodes and encodes strings of the operating system without loss: see `protocol/raw-bytes.ts`.
import { isUtf8 } from "node:buffer";
import { isIllFormed } from "../../protocol/index.ts";

const FIRST_BYTE = 0xdc00;

/** Decodes UTF-8; keeps each byte that is none as a lone surrogate. */
export function decodeBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return utf8(bytes);
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes[at] as number);
    if (length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length))) {
      at += length;
      continue;
    }
    text += utf8(bytes.subarray(from, at)) + String.fromCharCode(FIRST_BYTE + (bytes[at] as number));
    at += 1;
    from = at;
  }
  return text + utf8(bytes.subarray(from));
}

/** The bytes that `decodeBytes` was given. */
export function encodeBytes(text: string): Buffer {
  if (!isIllFormed(text)) return Buffer.from(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 1 ? Buffer.of(part.charCodeAt(0) - FIRST_BYTE) : Buffer.from(part))),
  );
}

/** The path as `node:fs` must get it. */
export function toPath(text: string): string | Buffer {
  return isIllFormed(text) ? encodeBytes(text) : text;
}

/** The bytes of a UTF-8 sequence that begins with this one; 0 if none does. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
