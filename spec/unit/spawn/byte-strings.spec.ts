// Strings of the operating system that are not UTF-8.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { decodeBytes, encodeBytes, toPath } from "../../../lib/spawn/byte-strings.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("a string of bytes", () => {
  it.each([
    ["caf\xe9", "caf\udce9"],
    ["\xc3\xa9", "\u00e9"],
    ["\xf0\x9f\x98\x80", "\u{1f600}"],
    ["\xf0\x9f\x98", "\udcf0\udc9f\udc98"],
    ["\xed\xb3\xbf", "\udced\udcb3\udcbf"],
    ["\xc0\x80\xff", "\udcc0\udc80\udcff"],
    ["\xef\xbb\xbfa", "\ufeffa"],
    ["", ""],
  ])("keeps what is not UTF-8: %j", (bytes, text) => {
    expect(decodeBytes(latin1(bytes))).toBe(text);
    expect(encodeBytes(text).toString("latin1")).toBe(bytes);
  });

  it("is restored by encoding, whatever the bytes are", () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const bytes = Buffer.concat(parts);
        expect(encodeBytes(decodeBytes(bytes)).equals(bytes)).toBe(true);
      }),
    );
  });

  it("is a path that node:fs accepts", () => {
    expect(toPath("/tmp/\u00e9")).toBe("/tmp/\u00e9");
    expect(toPath("/tmp/\udce9")).toEqual(latin1("/tmp/\xe9"));
  });
});
