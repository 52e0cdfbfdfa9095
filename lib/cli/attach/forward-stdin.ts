// Forwards our stdin to the command.
import { isatty } from "node:tty";
import type { WriteStatus } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import type { Process } from "../../process/process.ts";
import { note } from "../report.ts";
import { DetachKeys } from "./detach-keys.ts";

/** Bytes read from our stdin that the backend has not accepted yet: enough to keep typing while a write waits. */
const MAX_PENDING_BYTES = 64 * 1024;

const CTRL_C = 0x03;

/** How to forward stdin. */
export interface ForwardStdinOptions {
  /** Close the process's stdin when ours ends. */
  readonly passEnd: boolean;
  /** Called at Ctrl-P Ctrl-Q. Without it these keys have no special meaning. */
  readonly onDetach?: (() => void) | undefined;
  /** Called at each Ctrl-C, which is also forwarded. */
  readonly onInterrupt?: (() => void) | undefined;
}

/** Forwards our stdin as fast as the command reads it; the returned function stops it. */
export function forwardStdin(child: Process, { passEnd, onDetach, onInterrupt }: ForwardStdinOptions): () => void {
  const { stdin } = process;
  const keys = onDetach && new DetachKeys();
  let pendingBytes = 0;
  let stopped = false;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const pass = async (chunk: Uint8Array) => {
    if ((await child.write(chunk).catch(reportIfTooLong)) !== "accepted") return stop();
    pendingBytes -= chunk.length;
    if (!stopped && pendingBytes <= MAX_PENDING_BYTES) stdin.resume();
  };
  const onData = (data: Buffer) => {
    const { pass: chunk, found } = keys?.scan(data) ?? { pass: data, found: false };
    pendingBytes += chunk.length;
    if (pendingBytes > MAX_PENDING_BYTES) stdin.pause();
    // The end of the process's log reports why a write failed.
    if (chunk.length > 0) lastWrite = pass(chunk).catch(() => stop());
    if (found) onDetach?.();
    if (onInterrupt) for (const byte of data) if (byte === CTRL_C) onInterrupt();
  };
  const onEnd = () => {
    // The end of a terminal that was closed is not the user's end of input: the process may be shared and outlive this terminal.
    const hasHungUp = stdin.isTTY && !isatty(stdin.fd);
    if (passEnd && !hasHungUp) void lastWrite.then(() => child.closeStdin()).catch(() => undefined);
  };
  const stop = () => {
    stopped = true;
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    stdin.pause();
    // A paused terminal or pipe would keep this program alive for input that is no longer read.
    stdin.unref?.();
  };
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  // Reading a terminal that was closed may fail.
  stdin.on("error", () => undefined);
  return stop;
}

/** Reports a paste that the terminal would truncate. It is not fatal: the user can split it and keep typing. */
function reportIfTooLong(error: unknown): WriteStatus {
  if (!(error instanceof ExecwireError) || error.code !== "LIMIT_EXCEEDED") throw error;
  note(`not typed: ${error.message}`);
  return "accepted";
}
