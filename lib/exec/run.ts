// One command, run to its end: what it printed and how it ended, in one value. Built on `Process` alone, so it is the same for
// a process here, at a server, or at a Codex exec-server.
import type { Observable } from "rxjs";
import type { ProcessSpec } from "../../protocol/index.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { ActiveRun } from "./active-run.ts";
import type { RunChunk } from "./capture.ts";
import type { RunOptions } from "./options.ts";
import type { RunResult } from "./result.ts";

/** A command on its way. */
export interface Run {
  /** The process, once it runs; for who wants to signal it or to write to it. Rejects where there is none. */
  readonly process: Promise<Process>;
  /**
   * What it prints, while it prints it; at most 10,000 chunks of each stream. Hot: who subscribes in the turn of `startRun`
   * misses nothing. Completes when the result is known, also when there will be none: `result` tells why.
   */
  readonly chunks$: Observable<RunChunk>;
  readonly result: Promise<RunResult>;
}

/**
 * Runs a command to its end. Rejects only where there is no outcome: the start was refused (the codes of `Backend.start`,
 * INVALID_PARAMS for the options), stdin cannot be closed in this dialect (UNSUPPORTED), the connection is lost for good.
 */
export async function run(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Promise<RunResult> {
  return await startRun(backend, spec, options).result;
}

/** The same, for who wants to watch meanwhile, or to talk to the process. Not waiting for the result is allowed, also if it rejects. */
export function startRun(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Run {
  const { process, chunks$, result } = new ActiveRun(backend, spec, options);
  return { process, chunks$, result };
}
