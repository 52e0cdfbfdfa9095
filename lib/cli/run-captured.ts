// A command whose output is not passed through: kept for its outcome, or dropped. Signals and stdin are passed on as ever.
import { type ProcessSpec, present } from "../../protocol/index.ts";
import type { Link } from "../client/link.ts";
import { startRun } from "../exec/run.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { EXIT } from "./exit-code.ts";
import { ALL_SIGNALS, forwardSignals } from "./forward-signals.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { write } from "./output.ts";
import { givenUp, withOutlook } from "./pass-through.ts";
import { printableJson } from "./table.ts";

/** What to do with the outcome, and what to pass on. */
export interface RunCapturedOptions {
  /** Print the outcome on stdout; else nothing is kept. */
  readonly json: boolean | undefined;
  /** Pass our stdin on. */
  readonly stdin: boolean;
  /** The connection to the process, if it is elsewhere. */
  readonly link: Link | undefined;
}

/** Runs a command to its end; the exit code is the same as if its output had been passed through. */
export async function runCaptured(
  backend: Backend,
  spec: ProcessSpec,
  { json, stdin, link }: RunCapturedOptions,
): Promise<number> {
  // The timeout of the command line is in the spec: there it has the grace of whoever runs the command.
  const run = startRun(
    backend,
    spec,
    present({ timeoutMs: null, leftBehind: "terminate" as const, capBytes: json ? undefined : 0 }),
  );
  const undo: (() => void)[] = [];
  let child: Process | undefined;
  try {
    child = await run.process;
    const lost = new Promise<never>((_resolve, reject) => {
      const giveUp = () => {
        if (link && link.state !== "connected") reject(givenUp());
      };
      undo.push(forwardSignals(child as Process, ALL_SIGNALS, giveUp));
    });
    if (stdin) undo.push(forwardStdin(child, { passEnd: true }));
    const result = await Promise.race([run.result, lost]);
    if (json) await write("stdout", `${printableJson(result)}\n`);
    return result.exitCode ?? EXIT.failure;
  } catch (error) {
    throw child ? withOutlook(error, child.id) : error;
  } finally {
    for (const step of undo) step();
  }
}
