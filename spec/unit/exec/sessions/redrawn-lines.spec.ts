// Lines that a program has drawn several times, as a terminal shows them in the end.
import { describe, expect, it } from "@jest/globals";
import { redrawnLines } from "../../../../lib/exec/sessions/redrawn-lines.ts";

describe("redrawn lines", () => {
  it.each([
    ["carriage returns", "first\rsecond\nthird\n", "second\nthird\n"],
    ["a shorter second frame", "100 files\r9\n", "900 files\n"],
    ["an erased line", "\x1b[2K\rone\x1b[2K\rtwo\nDONE\n", "two\nDONE\n"],
    ["the rest of a line erased", "downloading 50 %\r\x1b[Kdone\n", "done\n"],
    ["the beginning of a line erased", "abcdef\x1b[3G\x1b[1KX\rY\n", "Y Xdef\n"],
    ["colors of frames", "\x1b[31m10 %\x1b[0m\r\x1b[32m99 %\x1b[0m\n", "99 %\n"],
    ["backspaces", "50\b\b75\n", "75\n"],
    ["columns beyond the line", "ab\r\x1b[500Gc\n", "abc\n"],
  ])("show the last state: %s", (_what, text, shown) => {
    expect(redrawnLines(text)).toEqual({ text: shown, overwritten: text.length - shown.length });
  });

  it.each([
    ["lines of a terminal", "one\r\ntwo\r\n"],
    ["colors of a line that is drawn once", "\x1b[31mred\x1b[0m\n"],
    ["a text longer than a terminal is wide", `${"x".repeat(5000)}\ry\n`],
    ["an incomplete control sequence", "tail \x1b["],
  ])("leave %s as they are", (_what, text) => {
    expect(redrawnLines(text)).toEqual({ text, overwritten: 0 });
  });
});
