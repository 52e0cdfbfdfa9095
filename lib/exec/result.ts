// What became of a command. All of it are values: a failed command is an outcome, not an error.
import { type ExitedEvent, type PipeHolder, present } from "../../protocol/index.ts";
import { shellExitCode } from "../process/signal-number.ts";
import { aggregate, shorten } from "./aggregate.ts";
import type { Capture } from "./capture.ts";
import { CapturedOutput } from "./captured-output.ts";
import { type Encoding, encodingOf } from "./encoding.ts";
import type { Drain, Expiry } from "./ending.ts";
import type { Excerpt } from "./head-tail.ts";
import { looksSandboxDenied } from "./sandbox-denial.ts";

/** Plain data, but for the outputs; `JSON.stringify` makes it plain altogether. */
export interface RunResult {
  /** By what the process can still be found at its backend. */
  readonly processId: string;
  /**
   * As a shell says it: the command's own, 128+n after signal n, 124 when it was ended by a timeout or an abort, whatever it then
   * answered itself. Null when nobody knows.
   */
  readonly exitCode: number | null;
  /** The signal it died of. */
  readonly signal: string | null;
  /** Ended by the timeout of `run` or by that of its spec. */
  readonly timedOut: boolean;
  /** Ended by the abort signal; also when that came after the exit, while others still held a stream. */
  readonly aborted: boolean;
  /** The exit itself, undistorted; null when it never started, or did not end in time. */
  readonly exited: ExitedEvent | null;
  /** From the call to the known exit. */
  readonly durationMs: number;
  /** A hint that the sandbox is what made it fail, by what the backend says or by what the command has printed. */
  readonly sandboxDenied: boolean;
  /** Whether the output is all there is: `eof`; or a job in the background held a stream, `idle`, and went on printing, `deadline`. */
  readonly drain: Drain;
  /** Who held the streams then, where the backend can tell. */
  readonly holders?: readonly PipeHolder[];
  /**
   * Losses on the way here: 0, unless the caller stood still for minutes, or a Codex exec-server lost some. What is lost counts as
   * omitted, as far as its size is known.
   */
  readonly gaps: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Both, stdout first, within the bound of one: a third for stdout, two thirds for stderr, and what stderr leaves. */
  readonly aggregated: CapturedOutput;
}

/** timeout(1)'s code. */
const EXPIRED = 124;

/** What is known at the end of a run, beside its output. */
export interface RunFacts extends Pick<RunResult, "processId" | "durationMs" | "drain"> {
  readonly exited: ExitedEvent | undefined;
  readonly expiry: Expiry | undefined;
  /** The kind of sandbox that was in force. */
  readonly sandbox: string;
  readonly holders?: readonly PipeHolder[] | undefined;
}

/** Of each stream, where signs of a denial are looked for. */
const SEARCHED_BYTES = 1024 * 1024;

function outputOf(excerpt: Excerpt, encoding: Encoding): CapturedOutput {
  return new CapturedOutput([{ excerpt, encoding }]);
}

/** Puts a result together. */
export async function resultOf(capture: Capture, capBytes: number, facts: RunFacts): Promise<RunResult> {
  const { processId, exited, expiry, durationMs, drain, holders, sandbox } = facts;
  const [out, err] = [capture.excerpt("stdout"), capture.excerpt("stderr")];
  const [outEncoding, errEncoding] = await Promise.all([encodingOf(out), encodingOf(err)]);
  const both = aggregate(out, err, capBytes);
  const exit = exitOf(exited, expiry);
  const isDenied = () => {
    // A full capture may be more than a string can hold.
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
    sandboxDenied: exited?.sandboxDenied || (expiry === undefined && sandbox !== "none" && isDenied()),
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

/** How it ended, as shells say it and as it was. */
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
