// The output of an answer as one text.
import type { ExecResult } from "./session-types.ts";

/** Head and tail, with a line between them that counts the omitted bytes. */
export function execText({ head, tail, omittedBytes, omittedAtLeast }: ExecResult): string {
  if (omittedBytes === 0 && !omittedAtLeast) return head;
  const count = omittedAtLeast ? `at least ${omittedBytes}` : `${omittedBytes}`;
  return `${endLine(head)}[... ${count} bytes omitted ...]\n${tail}`;
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
