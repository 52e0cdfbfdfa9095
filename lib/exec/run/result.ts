// The result of a run. Failure is a value: a failed command is an outcome, not an error.
import { type ExitedEvent, type PipeHolder, present } from "../../../protocol/index.ts";
import { shellExitCode } from "../../process/signal-number.ts";
import { looksSandboxDenied } from "../../sandbox/denial.ts";
import type { Excerpt } from "../head-tail.ts";
import { aggregate, shorten } from "./aggregate.ts";
import type { Capture } from "./capture.ts";
import { CapturedOutput } from "./captured-output.ts";
import { type Encoding, encodingOf } from "./encoding.ts";
import type { Drain, Expiry } from "./run-deadlines.ts";

/** Plain data except for the outputs, which `JSON.stringify` converts too. */
export interface RunResult {
  /** Identifies the process at its backend, while that keeps it. */
  readonly processId: string;
  /**
   * As in a shell: the command's own code, 128+n after signal n. 124 after a timeout or an abort, even if the command then exited
   * with another code. Null if it is not known.
   */
  readonly exitCode: number | null;
  /** The signal that ended it. */
  readonly signal: string | null;
  /** Ended by the timeout of `run` or of its spec. */
  readonly timedOut: boolean;
  /** Ended by the abort signal, also if it came after the exit while a stream was still open. */
  readonly aborted: boolean;
  /** The original exit; null if the process never started or did not end in time. */
  readonly exited: ExitedEvent | null;
  /** Milliseconds from the call to the exit. */
  readonly durationMs: number;
  /** A hint that the sandbox caused the failure, from the backend or from the command's output. */
  readonly sandboxDenied: boolean;
  /** Present and true if a managed network refused a connection before the exit. */
  readonly networkDenied?: boolean;
  /** `eof`: the output is complete. Otherwise a background job held a stream, and was silent (`idle`) or printed on (`deadline`). */
  readonly drain: Drain;
  /** The processes that held the streams then, if the backend can list them. */
  readonly holders?: readonly PipeHolder[];
  /**
   * Gaps in the log: 0, unless the caller was blocked for minutes or the host lost output. Lost bytes count as omitted
   * if their number is known.
   */
  readonly gaps: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Both streams, stdout first, within the bound of one: a third for stdout and what stderr leaves, two thirds for stderr. */
  readonly aggregated: CapturedOutput;
}

/** As timeout(1). */
const EXPIRED = 124;

/** What is known at the end of a run, besides its output. */
export interface RunFacts extends Pick<RunResult, "processId" | "durationMs" | "drain"> {
  readonly exited: ExitedEvent | undefined;
  readonly expiry: Expiry | undefined;
  /** The kind of sandbox. */
  readonly sandbox: string;
  readonly holders?: readonly PipeHolder[] | undefined;
}

/** How much of each stream is searched for signs of a denial. */
const SEARCHED_BYTES = 1024 * 1024;

function outputOf(excerpt: Excerpt, encoding: Encoding): CapturedOutput {
  return new CapturedOutput([{ excerpt, encoding }]);
}

/** Builds the result. */
export async function resultOf(capture: Capture, capBytes: number, facts: RunFacts): Promise<RunResult> {
  const { processId, exited, expiry, durationMs, drain, holders, sandbox } = facts;
  const [out, err] = [capture.excerpt("stdout"), capture.excerpt("stderr")];
  const [outEncoding, errEncoding] = await Promise.all([encodingOf(out), encodingOf(err)]);
  const both = aggregate(out, err, capBytes);
  const exit = exitOf(exited, expiry);
  const isDenied = () => {
    // A full capture may exceed the longest string.
    const texts = [
      outputOf(shorten(out, SEARCHED_BYTES), outEncoding).text,
      outputOf(shorten(err, SEARCHED_BYTES), errEncoding).text,
    ];
    return looksSandboxDenied({ ...exit, sandbox, texts });
  };
  return present({
    processId,
    ...exit,
    durationMs,
    sandboxDenied: exited?.sandboxDenied || (!exit.timedOut && !exit.aborted && sandbox !== "none" && isDenied()),
    networkDenied: exited?.networkDenied || undefined,
    drain,
    holders,
    gaps: capture.gaps,
    stdout: outputOf(out, outEncoding),
    stderr: outputOf(err, errEncoding),
    aggregated: new CapturedOutput([
      { excerpt: both.stdout, encoding: outEncoding },
      { excerpt: both.stderr, encoding: errEncoding },
    ]),
  });
}

/** How the command ended, in the shell's terms and as it was. */
export function exitOf(
  exited: ExitedEvent | undefined,
  expiry: Expiry | undefined,
): Pick<RunResult, "exitCode" | "signal" | "timedOut" | "aborted" | "exited"> {
  const timedOut = expiry === "timeout" || exited?.reason === "timeout";
  const aborted = expiry === "abort";
  const signal = exited?.signal ?? null;
  const own = exited ? shellExitCode(exited) : null;
  return { exitCode: timedOut || aborted ? EXPIRED : own, signal, timedOut, aborted, exited: exited ?? null };
}
