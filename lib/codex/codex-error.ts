// Errors in the Codex dialect: a number, a message, and for failed starts the kind of failure.
import { ExecwireError, short } from "../errors.ts";

/** Error numbers of the exec-server's protocol. */
export const CODE = {
  /** Refused: wrong state, unknown or duplicate id, a limit; also input that is not a message. */
  refused: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  failed: -32603,
  notFound: -32004,
  /** The session to resume is attached to another connection. */
  attached: -32010,
} as const;

/** An error of this dialect, sent to a client or received from a server. */
export class CodexError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    // It may quote the peer's input, which may be an entire message.
    super(short(message));
    this.name = "CodexError";
    this.code = code;
    this.data = data;
  }
}

/** The error for params that do not decode or make no sense. */
export function wrongParams(message: string): CodexError {
  return new CodexError(CODE.invalidParams, message);
}

/** Our codes as numbers of this dialect; any other code is a failure. */
const NUMBERS: Partial<Record<ExecwireError["code"], number>> = {
  INVALID_PARAMS: CODE.invalidParams,
  UNSUPPORTED: CODE.invalidParams,
  PROCESS_EXISTS: CODE.refused,
  PROCESS_UNKNOWN: CODE.refused,
  PROCESS_STARTING: CODE.refused,
  WRITE_ID_CONFLICT: CODE.refused,
  LIMIT_EXCEEDED: CODE.refused,
  START_CANCELLED: CODE.refused,
  FORBIDDEN: CODE.refused,
};

/** Converts any error to this dialect. */
export function toCodexError(error: unknown): CodexError {
  if (error instanceof CodexError) return error;
  if (!(error instanceof ExecwireError)) {
    return new CodexError(CODE.failed, error instanceof Error ? error.message : String(error));
  }
  if (error.code === "SPAWN_FAILED") return spawnError(error);
  if (error.code === "SANDBOX_UNAVAILABLE")
    return new CodexError(CODE.invalidParams, error.message, { kind: "sandboxUnavailable" });
  return new CodexError(NUMBERS[error.code] ?? CODE.failed, error.message);
}

/** How the exec-server's message for a failed start begins; clients look for this text. */
const SPAWN_FAILURES: Readonly<Record<string, readonly [kind: string, text: string]>> = {
  "not-found": ["spawnNotFound", "No such file or directory (os error 2)"],
  "cwd-not-found": ["spawnNotFound", "No such file or directory (os error 2)"],
  "interpreter-not-found": ["spawnNotFound", "No such file or directory (os error 2)"],
  "not-executable": ["spawnPermissionDenied", "Permission denied (os error 13)"],
  "is-directory": ["spawnPermissionDenied", "Permission denied (os error 13)"],
  "cwd-not-accessible": ["spawnPermissionDenied", "Permission denied (os error 13)"],
  "cwd-not-directory": ["spawnFailed", "Not a directory (os error 20)"],
  "bad-format": ["spawnFailed", "Exec format error (os error 8)"],
  "arg-too-long": ["spawnFailed", "Argument list too long (os error 7)"],
};

function spawnError(error: ExecwireError): CodexError {
  const [kind, text] = SPAWN_FAILURES[String(error.data.kind)] ?? ["spawnFailed", undefined];
  return new CodexError(CODE.failed, text ? `${text}: ${error.message}` : error.message, { kind });
}
