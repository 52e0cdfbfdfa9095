// Error codes. They are API and never change their meaning; messages are for people.

/**
 * Stable code of an error.
 * - `INVALID_PARAMS` an argument is invalid; `data.field` names it
 * - `PROCESS_EXISTS` the id is in use until its process is removed
 * - `PROCESS_UNKNOWN` no such process: it never existed, or was removed after its retention
 * - `PROCESS_STARTING` the process has no child yet
 * - `START_CANCELLED` terminated before the child was running; nothing is left running
 * - `SPAWN_FAILED` the operating system refused the start; `data.kind` gives the reason, `data.path` the path
 * - `SANDBOX_UNAVAILABLE` a sandbox was asked for, and this machine cannot provide it; nothing was run. The message says what to do
 * - `SANDBOX_FAILED` the sandbox of this start could not be set up; the command was not run
 * - `LIMIT_EXCEEDED` a configured limit is reached, or the kernel's `ttyLine`; `data.limit` names it
 * - `WRITE_ID_CONFLICT` the write id was used before with other bytes
 * - `SIGNAL_FAILED` the operating system does not permit the signal
 * - `UNSUPPORTED` this platform, spawner or server does not support it
 * - `CLOSED` the supervisor or client is closed
 * - `UNAUTHORIZED` the server does not accept the token
 * - `FORBIDDEN` the token permits viewing only, the server does not accept pages of this origin, or a sandbox would be wider than
 *   the server's own
 * - `SESSION_UNKNOWN` the session to resume has ended or never existed
 * - `VERSION_UNSUPPORTED` the peer uses another version of the protocol
 * - `CONNECTION_LOST` the connection was lost and recovery gave up; `data.reason` gives the reason. The state of the processes
 *   is unknown
 * - `PROTOCOL_VIOLATION` the peer sent something that the protocol does not allow
 * - `RUN_FAILED` a command that was to succeed did not; never on the wire
 * - `STDIN_CLOSED` `writeOrThrow` or `writeFrom` met a closed stdin; never on the wire, where a write has a status
 * - `OUTPUT_LOST` a reader that refuses gaps met one
 * - `INTERNAL` a bug in execwire
 */
export type ErrorCode =
  | "INVALID_PARAMS"
  | "PROCESS_EXISTS"
  | "PROCESS_UNKNOWN"
  | "PROCESS_STARTING"
  | "START_CANCELLED"
  | "SPAWN_FAILED"
  | "SANDBOX_UNAVAILABLE"
  | "SANDBOX_FAILED"
  | "LIMIT_EXCEEDED"
  | "WRITE_ID_CONFLICT"
  | "SIGNAL_FAILED"
  | "UNSUPPORTED"
  | "CLOSED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "SESSION_UNKNOWN"
  | "VERSION_UNSUPPORTED"
  | "CONNECTION_LOST"
  | "PROTOCOL_VIOLATION"
  | "RUN_FAILED"
  | "STDIN_CLOSED"
  | "OUTPUT_LOST"
  | "INTERNAL";

/** Why a program could not start; the value of `data.kind` in `SPAWN_FAILED`. */
export type SpawnFailureKind =
  | "not-found"
  | "not-executable"
  | "is-directory"
  | "bad-format"
  | "interpreter-not-found"
  | "cwd-not-found"
  | "cwd-not-directory"
  | "cwd-not-accessible"
  | "arg-too-long"
  | "resource-exhausted"
  | "failed";

/** Data of an error; flat, so that it crosses the wire unchanged. */
export type ErrorData = Readonly<Record<string, string | number | boolean>>;
