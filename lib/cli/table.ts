// Plain columns. What is shown comes from others: a name must not move the cursor, change colours of a terminal, or push the
// columns of all other rows aside.
import { displayWidth, fitWidth } from "./display-width.ts";

/** A wider cell than this keeps to itself: its column is no wider for it. A uuid fits. */
const MAX_COLUMN = 40;

/**
 * Rows under each other, columns two spaces apart; a newline after each. With `width`, that of a terminal, lines are cut there
 * and cells of more than `MAX_COLUMN` shortened; without it nothing is left out. `notes` follow their rows.
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

/** What a terminal takes for a command, or does not show: control characters, formatting such as reversed direction, line ends. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** The text without what would not be seen. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "");
}

/** JSON as ever, in which what would not be seen is escaped: a terminal may show it. */
export function printableJson(value: unknown, indent?: number): string {
  // Outside of strings JSON has line ends only, which stay.
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : [...unitsOf(character)].join(""),
  );
}

function* unitsOf(character: string): Generator<string> {
  for (let at = 0; at < character.length; at += 1) {
    yield `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
}
