// Exit codes of the command line: those that shells, timeout(1) and container tools use.
import type { ExitedEvent } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { signalNumber } from "../spawn/signals.ts";

/** Codes that are ours and not the command's. */
export const EXIT = {
  usage: 2,
  timeout: 124,
  failure: 125,
  notExecutable: 126,
  notFound: 127,
  signalBase: 128,
} as const;

/** The exit code that passes an exit on: the command's own, 124 after a timeout, 128+n after signal n. */
export function exitCodeOf(exit: ExitedEvent): number {
  if (exit.reason === "timeout") return EXIT.timeout;
  if (exit.signal !== null) return EXIT.signalBase + (signalNumber(exit.signal) ?? 0);
  return exit.exitCode ?? EXIT.failure;
}

/** The exit code for a command that could not be started. */
export function exitCodeOfError(error: unknown): number {
  if (!(error instanceof ExecwireError) || error.code !== "SPAWN_FAILED") return EXIT.failure;
  switch (error.data.kind) {
    case "not-found":
      return EXIT.notFound;
    case "not-executable":
    case "is-directory":
    case "bad-format":
    case "interpreter-not-found":
    case "arg-too-long":
      return EXIT.notExecutable;
    default:
      return EXIT.failure;
  }
}
