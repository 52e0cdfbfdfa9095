// The UTF-8 size of text, without encoding it and without Node.

/** Node's native count is many times faster; a browser has none. */
const native: { byteLength(text: string): number } | undefined = Object(globalThis).Buffer;
/** Shorter texts are counted faster in JavaScript than by a native call. */
const LONG_TEXT = 64;

/** UTF-8 bytes of a text; a lone surrogate counts as the three bytes of its replacement character. */
export function utf8Bytes(text: string): number {
  return native && text.length >= LONG_TEXT ? native.byteLength(text) : countBytes(text);
}

/** The same, character by character. */
export function countBytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A surrogate pair takes four bytes.
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

/** The longest prefix of at most this many bytes that ends with a whole character. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at least one byte and at most three.
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Bytes(text) <= maxBytes)) return text;
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    const isPair = isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1));
    bytes += isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > maxBytes) return text.slice(0, at);
    at += isPair ? 2 : 1;
  }
  return text;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
