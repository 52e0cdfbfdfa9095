// Refusals that every backend makes.
import type { ProcessState } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** The error for an id that no process has now; `alternative` is another reason why this backend may not know it. */
export function unknownProcess(processId: string, alternative = ""): ExecwireError {
  const message = `there is no process ${processId}; it may have been removed after its end${alternative}`;
  return new ExecwireError("PROCESS_UNKNOWN", message);
}

/** The error for a write when too many bytes of earlier writes are waiting. */
export function tooManyBytesWaiting(): ExecwireError {
  const message =
    "too many bytes are waiting for room in the stdin queue of this process; wait until earlier writes are answered";
  return new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "stdinParkedBytes" } });
}

/** Throws PROCESS_STARTING before the start and PROCESS_UNKNOWN after the removal. */
export function checkStarted(processId: string, state: ProcessState): void {
  if (state === "starting") throw new ExecwireError("PROCESS_STARTING", `process ${processId} is starting`);
  if (state === "removed") throw unknownProcess(processId);
}
