// Text of several lines as one: what it reads like, and that a hostile peer's blanks cost nothing.
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

  it("takes a million blanks that end no line: the square of their number would take hours", () => {
    const blanks = " ".repeat(1_000_000);
    expect(oneLine(`a${blanks}b`, "; ")).toBe(`a${blanks}b`);
  });
});
