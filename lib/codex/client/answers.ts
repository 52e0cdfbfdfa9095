// What a server says, decoded: results of calls and notifications. Unknown fields are passed over; what is known must fit.
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

/** 8 bits on POSIX, and 32 on Windows, where the exec-server takes them for signed; ours may not. */
const exitCode: Field<number> = {
  decode: (value) =>
    Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 32
      ? (value as number)
      : refuseType(value, "an exit code"),
};

const stream: Field<StreamName> = oneOf("stdout", "stderr", "pty");

/** The answer to `initialize`. */
export const initializeResult = struct("InitializeResponse", { sessionId: string, environmentInfo: anything });

/** The answer to `process/start`. */
export const startResult = struct("ExecResponse", { processId: string, sandboxType: optional(string) });

/** The answer to `process/read`. */
export const readResult = struct("ReadResponse", {
  chunks: listOf(struct("ProcessOutputChunk", { seq, stream, chunk: base64 })),
  nextSeq: seq,
  exited: boolean,
  exitCode: optional(exitCode),
  closed: boolean,
  failure: optional(string),
  sandboxDenied: withDefault(boolean, false),
});

/** The answer to `process/read`, decoded. */
export type ReadReply = ReturnType<typeof readResult.decode>;

/** The answer to `process/write`. */
export const writeResult = struct("WriteResponse", {
  status: oneOf("accepted", "unknownProcess", "stdinClosed", "starting"),
});

/** The answer to `process/terminate`. */
export const terminateResult = struct("TerminateResponse", { running: boolean });

/** Decodes an answer. One that does not fit breaks the protocol. */
export function answerOf<T>(field: Field<T>, result: unknown): T {
  try {
    return field.decode(result);
  } catch (error) {
    const text = `the server gave an answer that does not fit: ${error instanceof Error ? error.message : error}`;
    throw new ExecwireError("PROTOCOL_VIOLATION", text, { cause: error });
  }
}

/** What a server says of a process's life: output, exit, end. `exitCode` is null where the server does not know it. */
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

/** A notification about a process; undefined for all others, which a client passes over. */
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

/** What a client needs to know of the server's machine. */
export interface Environment {
  /** The server's own directory, as a URI and as a path. */
  readonly cwd: { readonly uri: string; readonly path: string } | undefined;
}

/** Reads the part of `EnvironmentInfo` that is of use here; what is missing or odd is no reason to stay away. */
export function environmentOf(info: unknown): Environment | undefined {
  if (!isMap(info)) return undefined;
  const { cwd } = info;
  if (typeof cwd !== "string") return { cwd: undefined };
  try {
    return { cwd: { uri: cwd, path: fileURLToPath(cwd) } };
  } catch {
    return { cwd: undefined };
  }
}
