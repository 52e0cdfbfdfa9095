// Whether the sandbox is the likely cause of an exit, judged at the exit: all output of the process itself is in the log by then,
// so that there is nothing to wait for.
import type { ExitReason, ProcessInfo } from "../../protocol/index.ts";
import type { LogView } from "../log/log-view.ts";
import { looksSandboxDenied } from "../sandbox/denial.ts";

/** Programs print why they failed at the end. */
const SEARCHED_BYTES = 64 * 1024;

/** The guess for one exit; false for a process that was asked to end. */
export function isSandboxDenied(
  { sandbox }: Pick<ProcessInfo, "sandbox">,
  exitCode: number | null,
  requested: ExitReason | undefined,
  log: LogView,
): boolean {
  if (sandbox === "none" || exitCode === 0 || requested !== undefined) return false;
  return looksSandboxDenied({ sandbox, exitCode, texts: [lastOutput(log)] });
}

/** Latin-1, since the words looked for are ASCII, in any encoding of the output. */
function lastOutput(log: LogView): string {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let seq = log.headSeq; seq > 0 && bytes < SEARCHED_BYTES; seq -= 1) {
    // Not a cursor, which would count a gap that no reader has.
    const delivery = log.next(seq - 1);
    if (typeof delivery !== "object" || delivery.type === "gap") break;
    if (delivery.type !== "output") continue;
    chunks.push(delivery.chunk);
    bytes += delivery.chunk.length;
  }
  return Buffer.concat(chunks.reverse()).toString("latin1");
}
