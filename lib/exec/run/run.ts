// Runs one command to its end and returns its output and exit as one value. Built on `Process` alone, so it is the same for a
// local process and for one of a server.
import type { Observable } from "rxjs";
import type { ProcessSpec } from "../../../protocol/index.ts";
import type { Backend } from "../../process/backend.ts";
import type { Process } from "../../process/process.ts";
import { ActiveRun } from "./active-run.ts";
import type { RunChunk } from "./capture.ts";
import type { RunResult } from "./result.ts";
import type { RunOptions } from "./run-options.ts";

/** A running command. */
export interface Run {
  /** The process, once it has started, to signal it or write to it. Rejects if it does not start. */
  readonly process: Promise<Process>;
  /**
   * Live output, at most 10,000 chunks of each stream. Hot: subscribe synchronously after `startRun` to miss nothing. Completes
   * when `result` settles, and never fails: `result` has the error.
   */
  readonly chunks$: Observable<RunChunk>;
  readonly result: Promise<RunResult>;
}

/**
 * Runs a command to its end. Rejects only if there is no outcome: the start was refused (with a code of `Backend.start`, or
 * INVALID_PARAMS for the options), the backend cannot close stdin (UNSUPPORTED), or the connection is lost for good.
 */
export async function run(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Promise<RunResult> {
  return await startRun(backend, spec, options).result;
}

/** Like `run`, with access to the process and its live output. The result need not be awaited, even if it rejects. */
export function startRun(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Run {
  const { process, chunks$, result } = new ActiveRun(backend, spec, options);
  return { process, chunks$, result };
}
