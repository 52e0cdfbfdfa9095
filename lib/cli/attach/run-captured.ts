// Runs a command without passing its output through: it is captured for the result, or dropped. Signals and stdin are forwarded
// as usual.
import { type ProcessSpec, present } from "../../../protocol/index.ts";
import { abortable } from "../../abort.ts";
import type { Link } from "../../client/link.ts";
import { startRun } from "../../exec/run/run.ts";
import type { Backend } from "../../process/backend.ts";
import type { Process } from "../../process/process.ts";
import { EXIT } from "../exit-code.ts";
import { isReaderGone, write } from "../output.ts";
import { printableJson } from "../table.ts";
import { EndDeadline } from "./end-deadline.ts";
import { ALL_SIGNALS, forwardSignals } from "./forward-signals.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { connectionGivenUp, withHint } from "./pass-through.ts";
import { ReaderDeadline } from "./reader-deadline.ts";

/** What to print, and what to forward. */
export interface RunCapturedOptions {
  /** Print the result on stdout; otherwise no output is kept. */
  readonly json: boolean | undefined;
  /** Forward our stdin. */
  readonly stdin: boolean;
  /** The connection to the process, if it is remote. */
  readonly link: Link | undefined;
  /** The command's grace: a bound of the wait for our reader. */
  readonly graceMs?: number | undefined;
}

/** Runs a command to its end. The exit code is the same as if its output had been passed through. */
export async function runCaptured(
  backend: Backend,
  spec: ProcessSpec,
  { json, stdin, link, graceMs }: RunCapturedOptions,
): Promise<number> {
  // `--timeout` is in the spec instead, where it has the grace of the host that runs the command.
  const run = startRun(
    backend,
    spec,
    present({ timeoutMs: null, leftBehind: "terminate" as const, capBytes: json ? undefined : 0 }),
  );
  const cleanups: (() => void)[] = [];
  let child: Process | undefined;
  let reader: ReaderDeadline | undefined;
  try {
    child = await run.process;
    const { timeoutMs } = spec;
    const givenUp = new AbortController();
    const end = new EndDeadline(child, { timeoutMs, graceMs, onGiveUp: () => givenUp.abort() });
    cleanups.push(() => end.release());
    const giveUp = () => {
      if (link && link.state !== "connected") givenUp.abort(connectionGivenUp());
    };
    const forwarding = { onForce: giveUp, onKillFailed: end.onFailedSignal.bind(end), sharesStops: !link };
    cleanups.push(forwardSignals(child, ALL_SIGNALS, forwarding));
    if (stdin) cleanups.push(forwardStdin(child, { passEnd: true }));
    const stop = new AbortController();
    reader = new ReaderDeadline(child, {
      timeoutMs,
      graceMs,
      signals: ALL_SIGNALS,
      onGiveUp: () => stop.abort(),
    });
    cleanups.push(() => reader?.release());
    const result = await abortable(run.result, givenUp.signal).catch((error: unknown) => {
      if (end.exitCode === undefined) throw error;
    });
    if (!result) return end.exitCode ?? EXIT.failure;
    const options = { signal: stop.signal, onProgress: reader.progress };
    if (json) await write("stdout", `${printableJson(result)}\n`, options);
    return reader.exitCode ?? result.exitCode ?? EXIT.failure;
  } catch (error) {
    if (reader && isReaderGone(error)) return reader.exitCodeWithoutReader;
    throw child ? withHint(error, child.id) : error;
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}
