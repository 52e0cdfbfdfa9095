// Runs one command to its end and returns its output and exit as one value. Built on `Process` alone, so it is the same for a
// local process and for one of a server.
import type { Observable } from "rxjs";
import { type ProcessSpec, present } from "../../../protocol/index.ts";
import { ExecwireError, oneLine } from "../../errors.ts";
import type { Backend } from "../../process/backend.ts";
import type { Process } from "../../process/process.ts";
import { ActiveRun } from "./active-run.ts";
import type { RunChunk } from "./capture.ts";
import type { RunResult } from "./result.ts";
import type { RunOptions } from "./run-options.ts";

/** Characters of the end of stderr in the message of `RunFailed`. */
const SHOWN_CHARS = 500;

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

/** A command that failed: it exited with another code than 0, or a signal, the timeout or an abort ended it. */
export class RunFailed extends ExecwireError {
  readonly result: RunResult;

  constructor(program: string, result: RunResult) {
    const { exitCode, signal, timedOut, aborted } = result;
    const how = timedOut
      ? "timed out"
      : aborted
        ? "was aborted"
        : signal
          ? `was ended by ${signal}`
          : `exited with ${exitCode}`;
    const last = oneLine(result.stderr.text.slice(-SHOWN_CHARS), "; ");
    super("RUN_FAILED", `${program} ${how}${last === "" ? "" : `: ${last}`}`, {
      data: present({ exitCode: exitCode ?? undefined }),
    });
    this.result = result;
  }
}

/** Like `run`, but rejects with `RunFailed`, which has the result, unless the command exits by itself with 0. */
export async function runOrThrow(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Promise<RunResult> {
  const result = await run(backend, spec, options);
  const { exitCode, signal, timedOut, aborted } = result;
  if (exitCode === 0 && signal === null && !timedOut && !aborted) return result;
  throw new RunFailed(spec.argv[0] ?? "the command", result);
}

/**
 * Runs a script with `/bin/sh -c`, in the environment of the host's core variables (HOME, PATH and the like) unless `spec` says
 * otherwise. Never build the script from untrusted text: `run` takes arguments as they are.
 */
export function runShell(
  backend: Backend,
  script: string,
  { spec, ...options }: RunOptions & { readonly spec?: Omit<ProcessSpec, "argv"> } = {},
): Promise<RunResult> {
  const core = spec?.env || spec?.envPolicy ? {} : { envPolicy: { inherit: "core" as const } };
  return run(backend, { ...core, ...spec, argv: ["/bin/sh", "-c", script] }, options);
}

/** Like `run`, with access to the process and its live output. The result need not be awaited, even if it rejects. */
export function startRun(backend: Backend, spec: ProcessSpec, options: RunOptions = {}): Run {
  const { process, chunks$, result } = new ActiveRun(backend, spec, options);
  return { process, chunks$, result };
}
