// Connects a process to our own streams, terminal and signals. The same for a process that we started and one that we attached
// to, local or remote.
import type { DeliveryMode, Seq } from "../../../protocol/index.ts";
import type { Link } from "../../client/link.ts";
import { ExecwireError } from "../../errors.ts";
import type { Process } from "../../process/process.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { isReaderGone, writeAll } from "../output.ts";
import { EndDeadline } from "./end-deadline.ts";
import { type ALL_SIGNALS, forwardSignals, INTERRUPTS_TO_FORCE } from "./forward-signals.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { ReaderDeadline } from "./reader-deadline.ts";
import { Screen } from "./screen.ts";
import { connectTerminal, guardTerminal } from "./terminal.ts";

/** What to connect. */
export interface PassThroughOptions {
  readonly delivery: DeliveryMode;
  readonly afterSeq?: Seq | undefined;
  /** The process has a terminal, and ours becomes its user interface. */
  readonly terminal: boolean;
  /** Forward our stdin. */
  readonly stdin: boolean;
  /** Close the process's stdin when ours ends. */
  readonly passEnd: boolean;
  readonly signals: readonly (typeof ALL_SIGNALS)[number][];
  /** Ctrl-P Ctrl-Q detaches. */
  readonly detachable?: boolean;
  /** The connection to the process, if it is remote. */
  readonly link?: Link | undefined;
  /** Output up to here is a replay. */
  readonly replayEnd?: Seq | undefined;
  /** When the command is ended by its timeout, and its grace: bounds of the wait for our reader. */
  readonly timeoutMs?: number | undefined;
  readonly graceMs?: number | undefined;
}

/** Passes everything through until the process is closed. Resolves with our exit code, or undefined after detaching. */
export async function passThrough(child: Process, options: PassThroughOptions): Promise<number | undefined> {
  const stop = new AbortController();
  const { link, terminal, stdin, passEnd } = options;
  const giveUp = () => {
    if (!link || link.state === "connected") return;
    stop.abort(connectionGivenUp());
  };
  const reader = new ReaderDeadline(child, { ...options, onGiveUp: () => stop.abort() });
  const end = new EndDeadline(child, { ...options, onGiveUp: () => stop.abort() });
  const forwarding = {
    onForce: giveUp,
    onKillFailed: end.onFailedSignal.bind(end),
    sharesStops: !link,
  };
  const cleanups: (() => unknown)[] = [
    () => reader.release(),
    () => end.release(),
    forwardSignals(child, options.signals, forwarding),
  ];
  const onDetach = options.detachable ? () => stop.abort() : undefined;
  // In a raw terminal Ctrl-C is a key and not a signal. While the link is down, it cannot reach the process, so it is for us.
  let interrupts = 0;
  const onInterrupt = () => {
    interrupts = link?.state === "connected" ? 0 : interrupts + 1;
    if (interrupts >= INTERRUPTS_TO_FORCE) giveUp();
  };
  try {
    const disconnect = terminal ? connectTerminal(child, stdin) : undefined;
    const { replayEnd } = options;
    const hasScreen = process.stdout.isTTY && (child.info.tty || replayEnd !== undefined);
    const screen = hasScreen ? new Screen(replayEnd ?? 0) : undefined;
    // Also without a screen: a terminal left in raw mode is unusable.
    if (screen ?? disconnect) cleanups.push(guardTerminal(screen, disconnect));
    if (stdin) {
      cleanups.push(forwardStdin(child, { passEnd, onDetach, onInterrupt: terminal ? onInterrupt : undefined }));
    }
    const exit = await writeAll(child, {
      ...options,
      signal: stop.signal,
      onProgress: reader.progress,
      // The command of a local run notices itself that its reader is gone, when it prints.
      watchReader: link !== undefined,
      through: screen && ((event) => screen.show(event)),
    });
    if (stop.signal.reason instanceof ExecwireError) throw stop.signal.reason;
    if (end.exitCode !== undefined) return end.exitCode;
    if (reader.exitCode !== undefined) return reader.exitCode;
    if (stop.signal.aborted) return undefined;
    return exit ? exitCodeOf(exit) : EXIT.failure;
  } catch (error) {
    if (isReaderGone(error)) return reader.exitCodeWithoutReader;
    throw withHint(error, child.id);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

/** Adds a hint to CONNECTION_LOST. No exit code is invented: it is not known whether the process still runs. */
export function withHint(error: unknown, processId: string): unknown {
  if (!(error instanceof ExecwireError) || error.code !== "CONNECTION_LOST") return error;
  const hint = `the process may still be running, check with: execwire attach ${processId}`;
  return new ExecwireError("CONNECTION_LOST", `${error.message}; ${hint}`);
}

/** The error when the user interrupts the reconnection. */
export function connectionGivenUp(): ExecwireError {
  return new ExecwireError("CONNECTION_LOST", "interrupted while the connection was lost");
}
