// Exit codes of the command line: those that shells, timeout(1), container tools and sysexits.h use.
import type { ErrorCode, ExitedEvent } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { shellExitCode } from "../process/signal-number.ts";

/** Codes that are ours and not the command's. */
export const EXIT = {
  usage: 2,
  /** EX_UNAVAILABLE: no server, or the connection to it is lost. */
  unavailable: 69,
  /** EX_NOPERM: the server does not let us in, or not do this. */
  noPermission: 77,
  timeout: 124,
  failure: 125,
  notExecutable: 126,
  notFound: 127,
  /** As after SIGPIPE. */
  brokenPipe: 141,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  CONNECTION_LOST: EXIT.unavailable,
  UNAUTHORIZED: EXIT.noPermission,
  FORBIDDEN: EXIT.noPermission,
};

/** The exit code that passes an exit on: the command's own, 124 after a timeout, 128+n after signal n. */
export function exitCodeOf(exit: ExitedEvent): number {
  if (exit.reason === "timeout") return EXIT.timeout;
  return shellExitCode(exit) ?? EXIT.failure;
}

/** The exit code for what went wrong before there was an exit to pass on. */
export function exitCodeOfError(error: unknown): number {
  if (!(error instanceof ExecwireError)) return EXIT.failure;
  if (error.code !== "SPAWN_FAILED") return BY_CODE[error.code] ?? EXIT.failure;
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
