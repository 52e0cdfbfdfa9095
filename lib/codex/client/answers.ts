// Decodes what a server sends: results of calls and notifications. Unknown fields are ignored; known fields must be valid.
import { fileURLToPath } from "node:url";
import type { Seq, StreamName } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import {
  anything,
  base64,
  boolean,
  type Field,
  isMap,
  listOf,
  oneOf,
  optional,
  refuseType,
  string,
  struct,
  withDefault,
} from "../decode.ts";

const seq: Field<Seq> = {
  decode: (value) =>
    Number.isSafeInteger(value) && (value as number) > 0 ? (value as Seq) : refuseType(value, "a seq"),
};

/** 8 bits on POSIX. On Windows 32 bits, which the exec-server reads as signed; our server may send them unsigned. */
const exitCode: Field<number> = {
  decode: (value) =>
    Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 32
      ? (value as number)
      : refuseType(value, "an exit code"),
};

const stream: Field<StreamName> = oneOf("stdout", "stderr", "pty");

/** The result of `initialize`. */
export const initializeResult = struct("InitializeResponse", { sessionId: string, environmentInfo: anything });

/** The result of `process/start`. */
export const startResult = struct("ExecResponse", { processId: string, sandboxType: optional(string) });

/** The result of `process/read`. */
export const readResult = struct("ReadResponse", {
  chunks: listOf(struct("ProcessOutputChunk", { seq, stream, chunk: base64 })),
  nextSeq: seq,
  exited: boolean,
  exitCode: optional(exitCode),
  closed: boolean,
  failure: optional(string),
  sandboxDenied: withDefault(boolean, false),
});

/** The decoded result of `process/read`. */
export type ReadReply = ReturnType<typeof readResult.decode>;

/** The result of `process/write`. */
export const writeResult = struct("WriteResponse", {
  status: oneOf("accepted", "unknownProcess", "stdinClosed", "starting"),
});

/** The result of `process/terminate`. */
export const terminateResult = struct("TerminateResponse", { running: boolean });

/** Decodes a result. Throws PROTOCOL_VIOLATION for an invalid one. */
export function answerOf<T>(field: Field<T>, result: unknown): T {
  try {
    return field.decode(result);
  } catch (error) {
    const text = `the server sent an invalid result: ${error instanceof Error ? error.message : error}`;
    throw new ExecwireError("PROTOCOL_VIOLATION", text, { cause: error });
  }
}

/** An event of a process, as the server sends it. `exitCode` is null where the server does not know it. */
export type RawEvent =
  | { readonly type: "output"; readonly seq: Seq; readonly stream: StreamName; readonly chunk: Uint8Array }
  | { readonly type: "exited"; readonly seq: Seq; readonly exitCode: number | null; readonly sandboxDenied: boolean }
  | { readonly type: "closed"; readonly seq: Seq };

const output = struct("ProcessOutput", { processId: string, seq, stream, chunk: base64 });
const exited = struct("ProcessExited", {
  processId: string,
  seq,
  exitCode: optional(exitCode),
  sandboxDenied: withDefault(boolean, false),
});
const closed = struct("ProcessClosed", { processId: string, seq });

/** Decodes a notification about a process; undefined for any other notification, which a client ignores. */
export function processEvent(method: string, params: unknown): { processId: string; event: RawEvent } | undefined {
  switch (method) {
    case "process/output": {
      const { processId, ...event } = output.decode(params);
      return { processId, event: { type: "output", ...event } };
    }
    case "process/exited": {
      const { processId, exitCode = null, ...event } = exited.decode(params);
      return { processId, event: { type: "exited", exitCode, ...event } };
    }
    case "process/closed": {
      const { processId, ...event } = closed.decode(params);
      return { processId, event: { type: "closed", ...event } };
    }
    default:
      return undefined;
  }
}

/** What a client needs to know about the server's host. */
export interface RemoteEnvironment {
  /** The server's working directory, as a URI and as a path. */
  readonly cwd: { readonly uri: string; readonly path: string } | undefined;
}

/** Reads the part of `EnvironmentInfo` that this client uses. Missing or invalid parts are no reason to refuse the server. */
export function environmentOf(info: unknown): RemoteEnvironment | undefined {
  if (!isMap(info)) return undefined;
  const { cwd } = info;
  if (typeof cwd !== "string") return { cwd: undefined };
  try {
    return { cwd: { uri: cwd, path: fileURLToPath(cwd) } };
  } catch {
    return { cwd: undefined };
  }
}
