// Plain columns. Cells hold untrusted text: a name must not move the cursor, change colours of the terminal, or shift the columns
// of all other rows.
import { toWellFormed } from "../../protocol/index.ts";
import { displayWidth, fitWidth } from "./display-width.ts";

/** The widest column; wider cells do not widen it. A uuid fits. */
const MAX_COLUMN = 40;

/**
 * Formats rows with columns two spaces apart and a newline after each row. With `width`, the terminal's, lines are cut to it and
 * cells wider than `MAX_COLUMN` are shortened; without it nothing is left out. `notes` are lines below their rows.
 */
export function table(
  rows: readonly (readonly string[])[],
  width?: number,
  notes: readonly (readonly string[])[] = [],
): string {
  const last = (rows[0]?.length ?? 0) - 1;
  const columns = rows[0]?.map((_, column) => {
    if (column === last) return 0;
    return rows.reduce((most, row) => Math.max(most, Math.min(MAX_COLUMN, displayWidth(row[column] ?? ""))), 0);
  });
  const cell = (text: string, column: number) => {
    const shown = width === undefined || column === last ? text : fitWidth(text, MAX_COLUMN);
    return shown + " ".repeat(Math.max(0, (columns?.[column] ?? 0) - displayWidth(shown)));
  };
  return rows
    .flatMap((row, index) => [row.map(cell).join("  "), ...(notes[index] ?? [])])
    .map((line) => `${(width === undefined ? line : fitWidth(line, width)).trimEnd()}\n`)
    .join("");
}

/** Characters that a terminal interprets or does not show: control and format characters (bidi overrides), line separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** The text without unprintable characters; bytes that are not UTF-8 show as U+FFFD. */
export function printable(text: string): string {
  return toWellFormed(text).replace(UNPRINTABLE, "");
}

/** Valid JSON with unprintable characters escaped, safe to show on a terminal. */
export function printableJson(value: unknown, indent?: number): string {
  // Outside of strings JSON has only newlines, which stay.
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : [...unitsOf(character)].join(""),
  );
}

function* unitsOf(character: string): Generator<string> {
  for (let at = 0; at < character.length; at += 1) {
    yield `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
}
