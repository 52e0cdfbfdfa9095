// Checks the bytes of a frame before it is decoded: frames that are not plain msgpack, are nested too deeply or would become
// millions of objects never reach the decoder. One pass; strings and byte strings are skipped by their length.
import type { Limits } from "./limits.ts";

/** Limits of a frame. */
export type FrameLimits = Pick<Limits, "messageDepth" | "messageValues">;

/** A map or array whose remaining items have not been read yet. */
interface Level {
  remaining: number;
  /** In a map, every second item is a key, which must be a string. */
  readonly isMap: boolean;
}

/** Sizes after the first bytes 0xca..0xd3: floats, unsigned integers, signed integers. */
const NUMBER_SIZES = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8];

/** `__proto__` in ASCII, and the first byte of a string of that length in its usual encoding. */
const PROTO = [0x5f, 0x5f, 0x70, 0x72, 0x6f, 0x74, 0x6f, 0x5f, 0x5f];
const SHORT_PROTO = 0xa0 + PROTO.length;

/**
 * Throws unless `frame` is exactly one msgpack value made of maps with string keys, arrays, strings, byte strings, booleans,
 * nil, finite numbers and integers within 2^53, with at most `messageDepth` levels and `messageValues` values. Returns whether
 * one of the keys is `__proto__`, which decoders rename.
 */
export function checkFrame(frame: Uint8Array, { messageDepth, messageValues }: FrameLimits): boolean {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const levels: Level[] = [];
  let position = 0;
  let values = 0;
  let hasProto = false;

  const take = (bytes: number): number => {
    const start = position;
    position += bytes;
    if (position > frame.length) throw new Error("is cut off");
    return start;
  };
  const length = (size: number): number => {
    const start = take(size);
    if (size === 1) return view.getUint8(start);
    return size === 2 ? view.getUint16(start) : view.getUint32(start);
  };
  const open = (items: number, isMap: boolean): void => {
    const remaining = isMap ? items * 2 : items;
    // An item takes at least one byte, so a larger count is impossible.
    if (remaining > frame.length - position) throw new Error("announces more than it holds");
    levels.push({ remaining, isMap });
    if (levels.length > messageDepth) throw new Error(`is nested deeper than ${messageDepth} levels`);
  };

  do {
    const level = levels[levels.length - 1];
    const isKey = level?.isMap && level.remaining % 2 === 0;
    if (level) level.remaining -= 1;
    values += 1;
    if (values > messageValues) throw new Error(`holds more than ${messageValues} values`);
    const first = frame[take(1)] as number;
    const isString = (first >= 0xa0 && first <= 0xbf) || (first >= 0xd9 && first <= 0xdb);
    if (isKey && !isString) throw new Error("has a key that is not a string");
    if (first <= 0x7f || first >= 0xe0 || first === 0xc0 || first === 0xc2 || first === 0xc3) {
      // A small integer, nil or a boolean: no more bytes follow.
    } else if (first <= 0x8f) open(first & 0x0f, true);
    else if (first <= 0x9f) open(first & 0x0f, false);
    else if (first <= 0xbf) {
      const start = take(first & 0x1f);
      hasProto ||= isKey === true && first === SHORT_PROTO && isProto(frame, start);
    } else if (first >= 0xc4 && first <= 0xc6) take(length(2 ** (first - 0xc4)));
    else if (first >= 0xca && first <= 0xd3) checkNumber(view, first, take(NUMBER_SIZES[first - 0xca] as number));
    else if (isString) {
      const size = length(2 ** (first - 0xd9));
      const start = take(size);
      hasProto ||= isKey === true && size === PROTO.length && isProto(frame, start);
    } else if (first === 0xdc || first === 0xdd) open(length(first === 0xdc ? 2 : 4), false);
    else if (first === 0xde || first === 0xdf) open(length(first === 0xde ? 2 : 4), true);
    else throw new Error("uses an extension type");
    while (levels.length > 0 && levels[levels.length - 1]?.remaining === 0) levels.pop();
  } while (levels.length > 0);
  if (position !== frame.length) throw new Error("holds more than one value");
  return hasProto;
}

function isProto(frame: Uint8Array, start: number): boolean {
  return PROTO.every((byte, index) => frame[start + index] === byte);
}

function checkNumber(view: DataView, first: number, start: number): void {
  let value = 0;
  if (first === 0xca) value = view.getFloat32(start);
  else if (first === 0xcb) value = view.getFloat64(start);
  else if (first === 0xcf) value = Number(view.getBigUint64(start));
  else if (first === 0xd3) value = Number(view.getBigInt64(start));
  if (!Number.isFinite(value)) throw new Error("holds a number that is not finite");
  const isWide = first === 0xcf || first === 0xd3;
  if (isWide && !Number.isSafeInteger(value)) throw new Error("holds an integer beyond 2^53");
}
