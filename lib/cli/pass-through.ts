// A process connected to our own streams, terminal and signals: the same for one that we started and one that we joined,
// here or at the other end of a link.
import type { DeliveryMode, Seq } from "../../protocol/index.ts";
import type { Link } from "../client/link.ts";
import { ExecwireError } from "../errors.ts";
import type { Process } from "../process/process.ts";
import { EXIT, exitCodeOf } from "./exit-code.ts";
import { type ALL_SIGNALS, forwardSignals, PATIENCE } from "./forward-signals.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { writeAll } from "./output.ts";
import { connectTerminal, showPlainScreen } from "./terminal.ts";

/** What to connect. */
export interface PassThroughOptions {
  readonly delivery: DeliveryMode;
  readonly afterSeq?: Seq | undefined;
  /** The process has a terminal that ours stands for. */
  readonly terminal: boolean;
  /** Pass our stdin on. */
  readonly stdin: boolean;
  /** Pass the end of our stdin on as well. */
  readonly passEnd: boolean;
  readonly signals: readonly (typeof ALL_SIGNALS)[number][];
  /** Ctrl-P Ctrl-Q leaves. */
  readonly detachable?: boolean;
  /** The connection to the process, if it is elsewhere. */
  readonly link?: Link | undefined;
}

/** Passes everything through until the process is closed; the exit code for its exit, or undefined after detaching. */
export async function passThrough(child: Process, options: PassThroughOptions): Promise<number | undefined> {
  const left = new AbortController();
  const { link, terminal, stdin, passEnd } = options;
  const giveUp = () => {
    if (!link || link.state === "connected") return;
    left.abort(givenUp());
  };
  const undo = [forwardSignals(child, options.signals, giveUp)];
  const onDetach = options.detachable ? () => left.abort() : undefined;
  // In a raw terminal Ctrl-C is a key and no signal; while nobody can be told of it, it is meant for us.
  let interrupts = 0;
  const onInterrupt = () => {
    interrupts = link?.state === "connected" ? 0 : interrupts + 1;
    if (interrupts >= PATIENCE) giveUp();
  };
  try {
    if (terminal) undo.push(connectTerminal(child, stdin));
    if (stdin) undo.push(forwardStdin(child, { passEnd, onDetach, onInterrupt: terminal ? onInterrupt : undefined }));
    const exit = await writeAll(child, { ...options, signal: left.signal });
    if (left.signal.reason instanceof ExecwireError) throw left.signal.reason;
    if (left.signal.aborted) return undefined;
    return exit ? exitCodeOf(exit) : EXIT.failure;
  } catch (error) {
    throw withOutlook(error, child.id);
  } finally {
    if (left.signal.aborted && terminal) showPlainScreen();
    for (const step of undo) step();
  }
}

/** A lost connection with the word what to do about it. No exit code is made up: nobody here knows whether the process still runs. */
export function withOutlook(error: unknown, processId: string): unknown {
  if (!(error instanceof ExecwireError) || error.code !== "CONNECTION_LOST") return error;
  const outlook = `whether the process still runs is not known, look with: execwire attach ${processId}`;
  return new ExecwireError("CONNECTION_LOST", `${error.message}; ${outlook}`);
}

/** Nobody wants to wait for a connection that is lost. */
export function givenUp(): ExecwireError {
  return new ExecwireError("CONNECTION_LOST", "given up while the connection was lost");
}
