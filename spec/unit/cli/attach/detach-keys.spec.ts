// Ctrl-P Ctrl-Q in typed input: found however the chunks are cut, and no other key is held back for good.
import { describe, expect, it } from "@jest/globals";
import { DetachKeys } from "../../../../lib/cli/attach/detach-keys.ts";

/** Types chunks; returns what was passed on, and in which chunk the keys were found. */
function type(...chunks: string[]) {
  const keys = new DetachKeys();
  const results = chunks.map((chunk) => keys.scan(Buffer.from(chunk)));
  return {
    passed: results.map(({ pass }) => Buffer.from(pass).toString()),
    foundIn: results.findIndex(({ found }) => found),
  };
}

describe("the detach keys", () => {
  it.each([
    ["in one chunk", ["ab\x10\x11cd"], ["ab"], 0],
    ["cut in the middle", ["ab\x10", "\x11cd"], ["ab", ""], 1],
    ["after another Ctrl-P", ["\x10\x10\x11"], ["\x10"], 0],
    ["after a Ctrl-P in another chunk", ["\x10", "\x10", "\x11"], ["", "\x10", ""], 2],
  ])("are found %s", (_name, chunks, passed, foundIn) => {
    expect(type(...chunks)).toEqual({ passed, foundIn });
  });

  it.each([
    ["Ctrl-Q alone", ["\x11"], ["\x11"]],
    ["the keys with another between", ["\x10a\x11"], ["\x10a\x11"]],
    ["the keys with another between, one by one", ["\x10", "a", "\x11"], ["", "\x10a", "\x11"]],
    ["bytes that are no text", ["é\x00\x7f"], ["é\x00\x7f"]],
  ])("are not found in %s, which is passed on", (_name, chunks, passed) => {
    expect(type(...chunks)).toEqual({ passed, foundIn: -1 });
  });
});
