// Text of several lines as one line, in linear time even for the blanks of a hostile peer.
import { describe, expect, it } from "@jest/globals";
import { oneLine } from "../../lib/errors.ts";

describe("text in one line", () => {
  it.each([
    ["one", "one"],
    ["one\ntwo", "one; two"],
    ["  one \t\r\n\n   two\n", "one; two"],
    ["", ""],
  ])("of %j is %j", (text, line) => {
    expect(oneLine(text, "; ")).toBe(line);
  });

  it("handles a million blanks that end no line in linear time: a quadratic search would take hours", () => {
    const blanks = " ".repeat(1_000_000);
    expect(oneLine(`a${blanks}b`, "; ")).toBe(`a${blanks}b`);
  });
});
