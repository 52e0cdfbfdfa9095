// Messages of execwire itself, always one line on stderr: errors with what to do next, and notes.
import type { ErrorCode } from "../../protocol/index.ts";
import { ExecwireError, oneLine } from "../errors.ts";
import { EXIT, exitCodeOfError } from "./exit-code.ts";
import { isReaderGone, OutputError } from "./output.ts";
import { hasLostReader } from "./standard-streams.ts";
import { printable } from "./table.ts";

/** What to do next, for errors whose message does not say it. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  UNAUTHORIZED: "pass the token of this server with --token-file or EXECWIRE_TOKEN",
  PROCESS_UNKNOWN: "list the processes with: execwire ps",
  VERSION_UNSUPPORTED: "use the same version of execwire on both sides",
};

/** Wrong usage that the option parser cannot detect. */
export class UsageError extends Error {}

/** No server could be reached; nothing was done. */
export class NoServerError extends Error {}

/** Prints an error and returns its exit code. */
export function report(error: unknown): number {
  // As for any program whose reader has closed the pipe: no message, and the exit code of SIGPIPE.
  if (isReaderGone(error)) return EXIT.brokenPipe;
  // The terminal was closed: the exit code of SIGHUP, which comes at the same time.
  if (error instanceof OutputError && error.code === "EIO" && hasLostReader()) return EXIT.hangUp;
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ExecwireError ? HINTS[error.code] : undefined;
  say(hint ? `${message}; ${hint}` : message);
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof NoServerError ? EXIT.unavailable : exitCodeOfError(error);
}

/** Prints an error that belongs to no call, with its stack. */
export function sayStray(error: unknown): void {
  if (error instanceof ExecwireError && error.code === "SIGNAL_FAILED") sayFailure(error);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

const refusedSignals = new Set<string>();

/** Prints why a process could not be signalled or ended; once for each process that we may not signal, however often we try. */
export function sayFailure(error: Error): void {
  const { message } = error;
  if (!(error instanceof ExecwireError && error.code === "SIGNAL_FAILED")) return say(message);
  if (refusedSignals.size > 1000) refusedSignals.clear();
  if (!refusedSignals.has(message)) say(`${message}; it keeps running`);
  refusedSignals.add(message);
}

/** Prints a message as one line, without control characters, which a process name may hold. `\r`: the terminal may be raw. */
export function say(message: string): void {
  process.stderr.write(`execwire: ${printable(oneLine(message, "; "))}${process.stderr.isTTY ? "\r\n" : "\n"}`);
}

/** Prints a less important message, dimmed on a terminal. */
export function note(message: string): void {
  const dim = process.stderr.isTTY && !process.env.NO_COLOR;
  if (dim) process.stderr.write("\x1b[2m");
  say(message);
  if (dim) process.stderr.write("\x1b[22m");
}
