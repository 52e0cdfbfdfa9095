// Connects a process to our own streams, terminal and signals. The same for a process that we started and one that we attached
// to, local or remote.
import type { DeliveryMode, Seq } from "../../../protocol/index.ts";
import type { Link } from "../../client/link.ts";
import { ExecwireError } from "../../errors.ts";
import type { Process } from "../../process/process.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { writeAll } from "../output.ts";
import { type ALL_SIGNALS, forwardSignals, INTERRUPTS_TO_FORCE } from "./forward-signals.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { connectTerminal, showPlainScreen } from "./terminal.ts";

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
}

/** Passes everything through until the process is closed. Resolves with our exit code, or undefined after detaching. */
export async function passThrough(child: Process, options: PassThroughOptions): Promise<number | undefined> {
  const stop = new AbortController();
  const { link, terminal, stdin, passEnd } = options;
  const giveUp = () => {
    if (!link || link.state === "connected") return;
    stop.abort(connectionGivenUp());
  };
  const cleanups = [forwardSignals(child, options.signals, giveUp, !link)];
  const onDetach = options.detachable ? () => stop.abort() : undefined;
  // In a raw terminal Ctrl-C is a key and not a signal. While the link is down, it cannot reach the process, so it is for us.
  let interrupts = 0;
  const onInterrupt = () => {
    interrupts = link?.state === "connected" ? 0 : interrupts + 1;
    if (interrupts >= INTERRUPTS_TO_FORCE) giveUp();
  };
  try {
    if (terminal) cleanups.push(connectTerminal(child, stdin));
    if (stdin) {
      cleanups.push(forwardStdin(child, { passEnd, onDetach, onInterrupt: terminal ? onInterrupt : undefined }));
    }
    const exit = await writeAll(child, { ...options, signal: stop.signal });
    if (stop.signal.reason instanceof ExecwireError) throw stop.signal.reason;
    if (stop.signal.aborted) return undefined;
    return exit ? exitCodeOf(exit) : EXIT.failure;
  } catch (error) {
    throw withHint(error, child.id);
  } finally {
    if (stop.signal.aborted && terminal) showPlainScreen();
    for (const cleanup of cleanups) cleanup();
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
