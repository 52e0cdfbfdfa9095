// Writes to a log like a process, for specs of its readers.
import { ExecwireError } from "../../lib/errors.ts";
import type { ReplayLog } from "../../lib/log/replay-log.ts";
import type { StreamName } from "../../protocol/index.ts";

/** Appends text as one chunk. */
export function print(log: ReplayLog, text: string, stream: StreamName = "stdout"): void {
  log.appendOutput(stream, Buffer.from(text));
}

/** Appends an exit that was not caused by a signal. */
export function exit(log: ReplayLog, exitCode = 0): void {
  const result = exitCode === 0 ? "success" : "error";
  log.appendExited({ exitCode, signal: null, result, reason: "exited", sandboxDenied: false });
}

/** An error with which a log can fail. */
export const cancelled = new ExecwireError("START_CANCELLED", "the start was cancelled");
