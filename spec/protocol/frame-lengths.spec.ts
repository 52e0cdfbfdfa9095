// Frames whose lengths take 8, 16 and 32 bits, and collections of more than 15: what a right peer sends for anything that is
// long. Each passes the check, is decoded to what it says, and is refused with a byte too few or too many.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { checkFrame } from "../../protocol/check-frame.ts";
import { type ClientMessage, decode, encode, limits } from "../../protocol/index.ts";

/** A length as msgpack writes it, after the byte that announces it. */
function head(first: number, size: 1 | 2 | 4, length: number): Buffer {
  const bytes = Buffer.alloc(1 + size, first);
  bytes.writeUIntBE(length, 1, size);
  return bytes;
}

const keyOf = (index: number) => `k${String(index).padStart(4, "0")}`;
const items = (count: number) => Buffer.from(Array.from({ length: count }, (_, index) => index % 128));
const entries = (count: number) =>
  Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      Buffer.concat([Buffer.from([0xa5]), Buffer.from(keyOf(index)), Buffer.from([index % 128])]),
    ),
  );
const list = (count: number) => Array.from({ length: count }, (_, index) => index % 128);
const map = (count: number) => Object.fromEntries(list(count).map((value, index) => [keyOf(index), value]));
const text = (length: number) => "x".repeat(length);

const frames: readonly (readonly [string, Buffer, Buffer, unknown])[] = [
  ["a string of 8 bits", head(0xd9, 1, 200), Buffer.from(text(200)), text(200)],
  ["a string of 16 bits", head(0xda, 2, 700), Buffer.from(text(700)), text(700)],
  ["a string of 32 bits", head(0xdb, 4, 70_000), Buffer.from(text(70_000)), text(70_000)],
  ["bytes of 8 bits", head(0xc4, 1, 200), Buffer.alloc(200, 7), Buffer.alloc(200, 7)],
  ["bytes of 16 bits", head(0xc5, 2, 700), Buffer.alloc(700, 7), Buffer.alloc(700, 7)],
  ["bytes of 32 bits", head(0xc6, 4, 70_000), Buffer.alloc(70_000, 7), Buffer.alloc(70_000, 7)],
  ["an array of 15", Buffer.from([0x9f]), items(15), list(15)],
  ["an array of 16 bits", head(0xdc, 2, 300), items(300), list(300)],
  ["an array of 32 bits", head(0xdd, 4, 3_000), items(3_000), list(3_000)],
  ["a map of 15", Buffer.from([0x8f]), entries(15), map(15)],
  ["a map of 16 bits", head(0xde, 2, 300), entries(300), map(300)],
  ["a map of 32 bits", head(0xdf, 4, 3_000), entries(3_000), map(3_000)],
];

describe("a frame", () => {
  it.each(frames)("with %s is what it says", (_name, first, rest, value) => {
    const frame = Buffer.concat([first, rest]);
    expect(checkFrame(frame, limits)).toBe(false);
    expect(isDeepStrictEqual(decode(frame), value)).toBe(true);
  });

  it.each(frames)("with %s and a byte too few is refused, and with one too many", (_name, first, rest) => {
    const frame = Buffer.concat([first, rest]);
    expect(() => checkFrame(frame.subarray(0, -1), limits)).toThrow(/is cut off|announces more than it holds/);
    expect(() => checkFrame(Buffer.concat([frame, Buffer.from([0x01])]), limits)).toThrow("holds more than one value");
  });

  it.each(frames.filter(([, first]) => first.length > 1))(
    "that ends in the length of %s is refused",
    (_name, first) => {
      expect(() => checkFrame(first.subarray(0, -1), limits)).toThrow("is cut off");
    },
  );

  it.each([
    [8, 0xd9, 1],
    [16, 0xda, 2],
    [32, 0xdb, 4],
  ] as const)("may have keys with lengths of %i bits, and `__proto__` is found among them", (_bits, first, size) => {
    const map = (key: string) =>
      Buffer.concat([Buffer.from([0x81]), head(first, size, key.length), Buffer.from(key), Buffer.from([1])]);
    expect(checkFrame(map("plain"), limits)).toBe(false);
    expect(checkFrame(map("__proto_?"), limits)).toBe(false);
    expect(checkFrame(map("__proto__"), limits)).toBe(true);
  });

  it.each([15, 16, 65_535, 65_536])("of a message with a list of %i is decoded as it was encoded", (count) => {
    const message: ClientMessage = { type: "request", id: 1, acked: list(count), method: "process/list", params: {} };
    expect(isDeepStrictEqual(decode(encode(message)), message)).toBe(true);
  });

  it.each([31, 32, 255, 256, 65_535, 65_536])("of a message with %i bytes is decoded as it was encoded", (length) => {
    const params = { processId: "p", incarnation: text(length), writeId: "w", chunk: Buffer.alloc(length, 1) };
    const message: ClientMessage = { type: "request", id: 1, acked: [], method: "process/write", params };
    expect(isDeepStrictEqual(decode(encode(message)), message)).toBe(true);
  });
});
