// What is restored in a terminal after a program: what it has set, and nothing else.
import { describe, expect, it } from "@jest/globals";
import { ControlSequences } from "../../../../lib/cli/attach/control-sequences.ts";
import { ScreenModes } from "../../../../lib/cli/attach/screen-modes.ts";

/** The end of a program that has printed this, without the ESC \ in front. */
function endOf(output: string): string {
  const modes = new ScreenModes();
  new ControlSequences().filter(Buffer.from(output, "latin1"), (sequence) => {
    modes.note(sequence);
    return true;
  });
  const end = modes.end();
  expect(modes.end()).toBe("");
  return end.startsWith("\x1b\\") ? end.slice(2) : end;
}

describe("the screen modes of a program that was left", () => {
  it.each([
    [
      "mouse, focus and paste",
      "\x1b[?1000;1002h\x1b[?1004h\x1b[?2004h",
      "\x1b[?1000l\x1b[?1002l\x1b[?1004l\x1b[?2004l",
    ],
    [
      "coordinates of the mouse",
      "\x1b[?1005h\x1b[?1006h\x1b[?1015h\x1b[?1016h",
      "\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l",
    ],
    ["cursor keys and keypad", "\x1b[?1h\x1b=", "\x1b[?1l\x1b>"],
    ["a hidden cursor, no wrapping", "\x1b[?25l\x1b[?7l", "\x1b[?25h\x1b[?7h"],
    ["the shape of the cursor", "\x1b[4 q", "\x1b[0 q"],
    ["the alternate screen, and its colours", "\x1b[?1049h", "\x1b[?1049l\x1b[0m"],
    ["the older alternate screens", "\x1b[?47h\x1b[?1047h", "\x1b[?47l\x1b[?1047l\x1b[0m"],
    ["colours", "\x1b[31m", "\x1b[0m"],
    ["black, whose number is 0", "\x1b[38;5;0m", "\x1b[0m"],
    ["line drawing", "\x1b(0\x0e", "\x0f\x1b(B"],
    ["another character encoding", "\x1b%@", "\x1b%G"],
    ["a scroll region, without moving the cursor", "\x1b[2;10r", "\x1b7\x1b[r\x1b8"],
    ["a scroll region in the alternate screen", "\x1b[?1049h\x1b[2;10r", "\x1b[r\x1b[?1049l\x1b[0m"],
    ["insert mode", "\x1b[4h", "\x1b[4l"],
    ["synchronized output, first", "\x1b[?25l\x1b[?2026h", "\x1b[?2026l\x1b[?25h"],
    [
      "the keyboard of kitty, on each screen",
      "\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>5u",
      "\x1b[<2u\x1b[?1049l\x1b[<1u\x1b[0m",
    ],
    ["the keyboard of kitty, set", "\x1b[=5;1u", "\x1b[=0u"],
    ["modifyOtherKeys", "\x1b[>4;2m", "\x1b[>4m"],
    ["titles on the stack", "\x1b[22;0t\x1b[22t", "\x1b[23t\x1b[23t"],
    ["colours of the terminal", "\x1b]11;#000000\x07\x1b]4;1;red\x07", "\x1b]111\x1b\\\x1b]104\x1b\\"],
    ["a hyperlink", "\x1b]8;;http://host\x1b\\", "\x1b]8;;\x1b\\"],
    ["a mode of the future", "\x1b[?9876h", "\x1b[?9876l"],
  ])("end: %s", (_name, output, end) => expect(endOf(output)).toBe(end));

  it.each([
    ["nothing was set", "hello\r\n\x1b[2J\x1b[H\x1b7\x1b8"],
    [
      "the program has ended what it set",
      "\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l\x1b[31m\x1b[2;9r\x1b[?1l\x1b>\x1b[?25h\x1b[m\x1b[r\x1b[?1049l",
    ],
    ["keyboards and titles were taken off the stack", "\x1b[>1u\x1b[<u\x1b[22t\x1b[23t"],
    ["colours were ended", "\x1b]12;red\x07\x1b]112\x07\x1b]8;;http://host\x07\x1b]8;;\x07"],
    ["the terminal was reset", "\x1b[?1003h\x1b[31m\x1bc"],
    ["a question was asked", "\x1b]11;?\x07\x1b[?2026$p"],
    ["it is a preference of the user", "\x1b[?12l\x1b[?25h\x1b[34h"],
    ["the cursor was saved", "\x1b[?1048h"],
  ])("have no end if %s", (_name, output) => expect(endOf(output)).toBe(""));

  it("are bounded, whatever a program prints", () => {
    const output = Array.from({ length: 5_000 }, (_, mode) => `\x1b[?${10_000 + mode}h\x1b[22t`).join("");
    expect(endOf(output).length).toBeLessThan(2_000);
  });
});
