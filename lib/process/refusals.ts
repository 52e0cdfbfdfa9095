// Refusals that every backend makes.
import type { ProcessState } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** The error for an id that no process has now; `alternative` is another reason why this backend may not know it. */
export function unknownProcess(processId: string, alternative = ""): ExecwireError {
  const message = `there is no process ${processId}; it may have been removed after its end${alternative}`;
  return new ExecwireError("PROCESS_UNKNOWN", message);
}

/** Throws PROCESS_STARTING before the start and PROCESS_UNKNOWN after the removal. */
export function checkStarted(processId: string, state: ProcessState): void {
  if (state === "starting") throw new ExecwireError("PROCESS_STARTING", `process ${processId} is starting`);
  if (state === "removed") throw unknownProcess(processId);
}
