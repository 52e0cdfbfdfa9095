// What execwire itself has to say, always on stderr and one line each: errors with what to do next, and notes.
import type { ErrorCode } from "../../protocol/index.ts";
import { ExecwireError, oneLine } from "../errors.ts";
import { EXIT, exitCodeOfError } from "./exit-code.ts";
import { OutputError } from "./output.ts";
import { printable } from "./table.ts";

/** What may be done about an error whose message does not say it. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  UNAUTHORIZED: "give the token of this server with --token-file or EXECWIRE_TOKEN",
  PROCESS_UNKNOWN: "see which there are with: execwire ps",
  VERSION_UNSUPPORTED: "use the same version of execwire at both ends",
};

/** Wrong usage that only the command itself can notice. */
export class UsageError extends Error {}

/** No server to talk to; nothing was done. */
export class NoServerError extends Error {}

/** Says what went wrong, and returns the exit code for it. */
export function report(error: unknown): number {
  // Like any program whose reader left: no word, and the code of a death by SIGPIPE.
  if (error instanceof OutputError && error.code === "EPIPE") return EXIT.brokenPipe;
  const message = error instanceof Error ? error.message : String(error);
  const advice = error instanceof ExecwireError ? ADVICE[error.code] : undefined;
  say(advice ? `${message}; ${advice}` : message);
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof NoServerError ? EXIT.unavailable : exitCodeOfError(error);
}

/** One line, whatever is in it, names that others chose included; a terminal may be raw, so it also returns to the left. */
export function say(message: string): void {
  process.stderr.write(`execwire: ${printable(oneLine(message, "; "))}${process.stderr.isTTY ? "\r\n" : "\n"}`);
}

/** The same, where it may be overlooked. */
export function note(message: string): void {
  const dim = process.stderr.isTTY && !process.env.NO_COLOR;
  if (dim) process.stderr.write("\x1b[2m");
  say(message);
  if (dim) process.stderr.write("\x1b[22m");
}
