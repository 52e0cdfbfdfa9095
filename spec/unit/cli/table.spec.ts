// Columns of names that other programs chose: wide, long, invisible or misleading ones.
import { describe, expect, it } from "@jest/globals";
import { displayWidth, fitWidth } from "../../../lib/cli/display-width.ts";
import { printable, printableJson, table } from "../../../lib/cli/table.ts";

describe("the width of a text on a terminal", () => {
  it.each<[text: string, columns: number]>([
    ["", 0],
    ["plain", 5],
    ["日本語", 6],
    ["한국어", 6],
    ["ｱｲｳ", 3],
    ["ＡＢ", 4],
    ["é", 1],
    ["e\u0301", 1],
    ["👍", 2],
    ["naïve–“x”", 9],
  ])("is that of its characters: %j", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it("is never exceeded by a text that was fitted into it, and a text that fits is unchanged", () => {
    expect(fitWidth("日本語", 6)).toBe("日本語");
    expect(fitWidth("日本語", 5)).toBe("日本…");
    expect(fitWidth("日本語", 4)).toBe("日…");
    expect(fitWidth("abcdef", 4)).toBe("abc…");
    expect(fitWidth("e\u0301e\u0301e\u0301", 3)).toBe("e\u0301e\u0301e\u0301");
    expect(displayWidth(fitWidth("日".repeat(100_000), 79))).toBeLessThanOrEqual(79);
  });
});

describe("a table on a terminal", () => {
  const rows = [
    ["ID", "STATE", "COMMAND"],
    ["日本語", "closed", "true"],
    ["e\u0301", "running", "cat"],
  ];

  it("aligns columns for all kinds of characters", () => {
    expect(table(rows)).toBe("ID      STATE    COMMAND\n日本語  closed   true\ne\u0301       running  cat\n");
  });

  const long = "x".repeat(8_192);
  it("lets a very long name widen only its own line, and shortens it on a terminal", () => {
    const [head, first, second] = table([...rows.slice(0, 1), [long, "closed", "true"], ["a", "running", "cat"]]).split(
      "\n",
    );
    expect(head?.indexOf("STATE")).toBe(42);
    expect(first).toBe(`${long}  closed   true`);
    expect(second?.indexOf("running")).toBe(42);
    const lines = table([...rows.slice(0, 1), [long, "closed", "true"]], 80).split("\n");
    expect(lines[1]).toBe(`${"x".repeat(39)}…  closed  true`);
    expect(lines[0]?.indexOf("STATE")).toBe(42);
  });
});

describe("a name that another program chose", () => {
  const seen = "plain é 日本 ок";
  const unseen = [
    "\x1b",
    "\x07",
    "\r",
    "\x7f",
    "\x9b",
    "\u200b",
    "\u200f",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u{e0041}",
    "\u3164",
  ];

  it("is shown without control characters and invisible characters", () => {
    expect(printable(`${unseen.join("")}${seen}${unseen.join("x")}`)).toBe(`${seen}${"x".repeat(unseen.length - 1)}`);
  });

  it("is escaped in JSON, whose value stays the same", () => {
    const value = { [unseen.join("")]: [seen, unseen.join("\n"), "\ud800"] };
    for (const json of [printableJson(value), printableJson(value, 2)]) {
      expect(JSON.parse(json)).toEqual(value);
      for (const character of unseen) expect(json).not.toContain(character);
      expect(json).toContain(seen);
    }
    expect(printableJson(["\x9b\u202e\u{e0041}"])).toBe('["\\u009b\\u202e\\udb40\\udc41"]');
  });
});
