// The codes of refusals and breakages. Codes are API and never change their meaning; messages are for people.

/**
 * Stable code of an error.
 * - `INVALID_PARAMS` an argument is wrong; `data.field` names it
 * - `PROCESS_EXISTS` the id is in use, until its process was removed
 * - `PROCESS_UNKNOWN` no such process (never was, or removed after its retention)
 * - `PROCESS_STARTING` the process has no child yet
 * - `START_CANCELLED` terminated before the child was up; nothing is left running
 * - `SPAWN_FAILED` the operating system refused; `data.kind` says what, `data.path` which
 * - `LIMIT_EXCEEDED` a configured limit is reached, or `ttyLine` of the kernel; `data.limit` names it
 * - `WRITE_ID_CONFLICT` the write id was used before with other bytes
 * - `SIGNAL_FAILED` the operating system does not allow it to be signalled
 * - `UNSUPPORTED` this platform or provider cannot do it
 * - `CLOSED` the supervisor or client was closed
 * - `UNAUTHORIZED` the server does not know this token
 * - `FORBIDDEN` the token allows to look, not to act
 * - `SESSION_UNKNOWN` the session to resume is over, or never was
 * - `VERSION_UNSUPPORTED` the peer speaks another version of the protocol
 * - `CONNECTION_LOST` no connection, and recovery gave up; `data.reason` says why. What happens to the processes is not known
 * - `PROTOCOL_VIOLATION` the peer sent what the protocol does not allow
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
  | "OUTPUT_LOST"
  | "INTERNAL";

/** What kept a program from starting; the value of `data.kind` in `SPAWN_FAILED`. */
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

/** Facts beside a code, plain data so that they cross the wire. */
export type ErrorData = Readonly<Record<string, string | number | boolean>>;
