// Plain columns. What is shown comes from strangers: a name must not move the cursor or change colours of a terminal.

/** Rows under each other, columns two spaces apart, lines cut at `width`; a newline after each. */
export function table(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `${line.slice(0, width).trimEnd()}\n`)
    .join("");
}

/** The text without control characters, invisible formatting (such as reversed direction) and line ends. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "");
}
