// Reports to the user of a server which processes begin and end, without their arguments, which may hold secrets.
import type { ProcessInfo } from "../../../protocol/index.ts";
import { say } from "../report.ts";

/** Prints one line for a change that is a start or an end. */
export function sayChange({ processId, state, argv, pid, exitCode, signal }: ProcessInfo): void {
  const running = `process ${processId} runs ${argv[0]}${pid === undefined ? "" : ` (pid ${pid})`}`;
  if (state === "running") say(running);
  else if (state === "exited") say(`process ${processId} ended: ${signal ?? `exit code ${exitCode}`}`);
}
