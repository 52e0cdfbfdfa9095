// Plain columns. What is shown comes from strangers: a name must not move the cursor or change colours of a terminal.

/** Rows under each other, columns two spaces apart, lines cut at `width`; a newline after each. `notes` follow their rows. */
export function table(
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  notes: readonly (readonly string[])[] = [],
): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .flatMap((row, index) => [
      row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "),
      ...(notes[index] ?? []),
    ])
    .map((line) => `${line.slice(0, width).trimEnd()}\n`)
    .join("");
}

/** The text without control characters, invisible formatting (such as reversed direction) and line ends. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "");
}
