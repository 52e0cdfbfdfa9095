// Our stdin, as the command's.
import type { WriteStatus } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Process } from "../process/process.ts";
import { DetachKeys } from "./detach-keys.ts";
import { note } from "./report.ts";

/** Bytes read from our stdin and not yet taken by the process: enough to type on while a write waits. */
const MAX_AHEAD_BYTES = 64 * 1024;

const CTRL_C = 0x03;

/** How to pass stdin on. */
export interface ForwardStdinOptions {
  /** Ours ended: end the process's as well. */
  readonly passEnd: boolean;
  /** Told of Ctrl-P Ctrl-Q; without it they are keys like any other. */
  readonly onDetach?: (() => void) | undefined;
  /** Told of each Ctrl-C, which is passed on like any key. */
  readonly onInterrupt?: (() => void) | undefined;
}

/** Passes our stdin on, at the pace at which the command takes it; until undone. */
export function forwardStdin(child: Process, { passEnd, onDetach, onInterrupt }: ForwardStdinOptions): () => void {
  const { stdin } = process;
  const keys = onDetach && new DetachKeys();
  let ahead = 0;
  let stopped = false;
  let last: Promise<unknown> = Promise.resolve();
  const pass = async (chunk: Uint8Array) => {
    if ((await child.write(chunk).catch(sayIfTooLong)) !== "accepted") return stop();
    ahead -= chunk.length;
    if (!stopped && ahead <= MAX_AHEAD_BYTES) stdin.resume();
  };
  const onData = (data: Buffer) => {
    const { pass: chunk, found } = keys?.scan(data) ?? { pass: data, found: false };
    ahead += chunk.length;
    if (ahead > MAX_AHEAD_BYTES) stdin.pause();
    // Why a write failed is told by the end of the process's log.
    if (chunk.length > 0) last = pass(chunk).catch(() => stop());
    if (found) onDetach?.();
    if (onInterrupt) for (const byte of data) if (byte === CTRL_C) onInterrupt();
  };
  const onEnd = () => {
    if (passEnd) void last.then(() => child.closeStdin()).catch(() => undefined);
  };
  const stop = () => {
    stopped = true;
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    stdin.pause();
    // A paused terminal or pipe would keep this program alive for input that nobody wants.
    stdin.unref?.();
  };
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  return stop;
}

/** A paste that the terminal would cut short: whoever typed it can do something about it, and go on typing. */
function sayIfTooLong(error: unknown): WriteStatus {
  if (!(error instanceof ExecwireError) || error.code !== "LIMIT_EXCEEDED") throw error;
  note(`not typed: ${error.message}`);
  return "accepted";
}
