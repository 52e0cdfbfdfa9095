// How omitted output is shown wherever output is shown as text.

/** A line for omitted bytes, without its end; undefined if their number is not known. */
export function omissionMark(bytes: number | string | undefined): string {
  return `[... ${bytes ?? "an unknown number of"} bytes omitted ...]`;
}

/** Joins the two ends of a text with a line that counts the omitted bytes. */
export function joinOmitted(head: string, tail: string, bytes: number | string): string {
  const lineEnd = head === "" || head.endsWith("\n") ? "" : "\n";
  return `${head}${lineEnd}${omissionMark(bytes)}\n${tail}`;
}
