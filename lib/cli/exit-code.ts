// Exit codes of the command line, as shells, timeout(1), container tools and sysexits.h define them.
import type { ErrorCode, ExitedEvent } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { shellExitCode } from "../process/signal-number.ts";

/** Exit codes of execwire itself, not of the command. */
export const EXIT = {
  usage: 2,
  /** EX_NOINPUT: the server has no process of this id. */
  unknownProcess: 66,
  /** EX_UNAVAILABLE: no server was found, or the connection was lost for good. */
  unavailable: 69,
  /** EX_NOPERM: the server refused the token, or the token does not permit the request. */
  noPermission: 77,
  timeout: 124,
  failure: 125,
  notExecutable: 126,
  notFound: 127,
  /** 128 + SIGHUP: our terminal was closed. */
  hangUp: 129,
  /** 128 + SIGPIPE: our reader has closed the pipe. */
  brokenPipe: 141,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  PROCESS_UNKNOWN: EXIT.unknownProcess,
  CONNECTION_LOST: EXIT.unavailable,
  UNAUTHORIZED: EXIT.noPermission,
  FORBIDDEN: EXIT.noPermission,
};

/** The exit code for the command's exit: its own code, 124 after a timeout, 128+n after signal n. */
export function exitCodeOf(exit: ExitedEvent): number {
  if (exit.reason === "timeout") return EXIT.timeout;
  return shellExitCode(exit) ?? EXIT.failure;
}

/** The exit code for an error without an exit of the command. */
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
