// The output of an answer as one text.
import { joinOmitted } from "../../process/omission-mark.ts";
import type { ExecResult } from "./session-types.ts";

/** Head and tail, with a line between them that counts the omitted bytes. */
export function execText({ head, tail, omittedBytes, omittedAtLeast }: ExecResult): string {
  if (omittedBytes === 0 && !omittedAtLeast) return head;
  return joinOmitted(head, tail, omittedAtLeast ? `at least ${omittedBytes}` : omittedBytes);
}
