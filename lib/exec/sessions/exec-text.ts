// The output of an answer as one text.
import type { ExecResult } from "./session-types.ts";

/** Head and tail, with a line between them that counts the omitted bytes. */
export function execText({ head, tail, omittedBytes, omittedAtLeast }: ExecResult): string {
  if (omittedBytes === 0 && !omittedAtLeast) return head;
  return joinOmitted(head, tail, omittedAtLeast ? `at least ${omittedBytes}` : omittedBytes);
}

/** Joins the two ends of a text with a line that counts the omitted bytes. */
export function joinOmitted(head: string, tail: string, bytes: number | string): string {
  const lineEnd = head === "" || head.endsWith("\n") ? "" : "\n";
  return `${head}${lineEnd}[... ${bytes} bytes omitted ...]\n${tail}`;
}
