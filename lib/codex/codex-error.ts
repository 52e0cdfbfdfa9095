// Errors as the Codex dialect says them: a number, a sentence, and for failed starts what kind of failure.
import { ExecwireError, short } from "../errors.ts";

/** The numbers, from the exec-server's protocol. */
export const CODE = {
  /** Refused: wrong state, unknown or duplicate id, a limit; also input that is no message. */
  refused: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  failed: -32603,
  notFound: -32004,
  /** The session to resume is attached to another connection. */
  attached: -32010,
} as const;

/** An error of this dialect, on its way to the client or received from a server. */
export class CodexError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    // It may quote what the peer sent, which may be a whole message.
    super(short(message));
    this.name = "CodexError";
    this.code = code;
    this.data = data;
  }
}

/** Refuses what does not decode or makes no sense. */
export function invalidParams(message: string): CodexError {
  return new CodexError(CODE.invalidParams, message);
}

/** How our codes are said in this dialect; what is not here is a failure. */
const NUMBERS: Partial<Record<ExecwireError["code"], number>> = {
  INVALID_PARAMS: CODE.invalidParams,
  UNSUPPORTED: CODE.invalidParams,
  PROCESS_EXISTS: CODE.refused,
  PROCESS_UNKNOWN: CODE.refused,
  PROCESS_STARTING: CODE.refused,
  WRITE_ID_CONFLICT: CODE.refused,
  LIMIT_EXCEEDED: CODE.refused,
};

/** Any error as this dialect says it. */
export function toCodexError(error: unknown): CodexError {
  if (error instanceof CodexError) return error;
  if (!(error instanceof ExecwireError)) {
    return new CodexError(CODE.failed, error instanceof Error ? error.message : String(error));
  }
  if (error.code === "SPAWN_FAILED") return spawnError(error);
  return new CodexError(NUMBERS[error.code] ?? CODE.failed, error.message);
}

/** What the exec-server says first about a failure to start; clients look for these words. */
const SPAWN_FAILURES: Readonly<Record<string, readonly [kind: string, words: string]>> = {
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
  const [kind, words] = SPAWN_FAILURES[String(error.data.kind)] ?? ["spawnFailed", undefined];
  return new CodexError(CODE.failed, words ? `${words}: ${error.message}` : error.message, { kind });
}
