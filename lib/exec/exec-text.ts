// An answer's output as one text, for who cannot show two.
import type { ExecResult } from "./session-types.ts";

/** Head and tail with a line between them that says what is left out. */
export function execText({ head, tail, omittedBytes, omittedAtLeast }: ExecResult): string {
  if (omittedBytes === 0 && !omittedAtLeast) return head;
  return joinOmitted(head, tail, omittedAtLeast ? `at least ${omittedBytes}` : omittedBytes);
}

/** Two ends of a text, with a line between them that says how much is left out. */
export function joinOmitted(head: string, tail: string, bytes: number | string): string {
  const lineEnd = head === "" || head.endsWith("\n") ? "" : "\n";
  return `${head}${lineEnd}[... ${bytes} bytes omitted ...]\n${tail}`;
}
