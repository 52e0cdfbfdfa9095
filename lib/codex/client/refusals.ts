// What a server refuses, in our own codes. The dialect has few numbers, so its words decide too; they are those of the
// Codex exec-server.
import type { ErrorCode, SpawnFailureKind } from "../../../protocol/index.ts";
import { ExecwireError, oneLine } from "../../errors.ts";
import { CODE, CodexError } from "../codex-error.ts";
import { isMap } from "../decode.ts";

/** Numbers of the operating system (Linux) in the words of a failed start, and what they mean. */
const BY_ERRNO: Readonly<Record<string, SpawnFailureKind>> = {
  7: "arg-too-long",
  8: "bad-format",
  11: "resource-exhausted",
  12: "resource-exhausted",
  23: "resource-exhausted",
  24: "resource-exhausted",
};

const BY_KIND: Readonly<Record<string, SpawnFailureKind>> = {
  spawnNotFound: "not-found",
  spawnPermissionDenied: "not-executable",
};

/** Words that decide, and the fact that they tell in passing. The last two are our own server's. */
const BY_WORDS: readonly (readonly [words: RegExp, code: ErrorCode, fact?: string])[] = [
  [/already exists/i, "PROCESS_EXISTS"],
  [/(unknown|no) process/i, "PROCESS_UNKNOWN"],
  [/is starting/i, "PROCESS_STARTING"],
  [/the limit (\w+) is/, "LIMIT_EXCEEDED", "limit"],
  [/^write id (.+) was used before/, "WRITE_ID_CONFLICT", "writeId"],
];

/** The `error` member of an answer. What does not fit is an error all the same. */
export function errorOf(error: unknown): CodexError {
  if (!isMap(error)) return new CodexError(CODE.failed, "the server sent an error without saying which");
  const { code, message, data } = error;
  return new CodexError(
    typeof code === "number" ? code : CODE.failed,
    typeof message === "string" ? message : "the server gave no reason",
    isMap(data) ? data : undefined,
  );
}

/** A refused call as ours. What this client sent and the server finds no sense in is a bug here. */
export function fromCodexError({ code, message, data }: CodexError): ExecwireError {
  const said = inOneLine(message);
  if (code === CODE.invalidParams) return new ExecwireError("INVALID_PARAMS", said);
  if (code === CODE.unknownMethod) return new ExecwireError("UNSUPPORTED", said);
  if (code === CODE.refused) return fromWords(said);
  const facts = typeof data?.kind === "string" ? { data: { kind: data.kind } } : {};
  return new ExecwireError("INTERNAL", said, facts);
}

/** A refused start as ours. The server does not say which path it means, so neither does the error's `data`. */
export function fromStartError(error: CodexError, program: string): ExecwireError {
  if (error.code !== CODE.failed) return fromCodexError(error);
  const errno = /\(os error (\d+)\)/.exec(error.message)?.[1] ?? "";
  const kind = BY_KIND[String(error.data?.kind)] ?? BY_ERRNO[errno] ?? "failed";
  const said = inOneLine(error.message);
  return new ExecwireError("SPAWN_FAILED", `cannot start ${program}: ${said}`, { data: { kind } });
}

/** A refused call as our own error. */
export function asOurs(error: CodexError | ExecwireError): ExecwireError {
  return error instanceof ExecwireError ? error : fromCodexError(error);
}

/** The same, thrown. */
export function refused(error: CodexError | ExecwireError): never {
  throw asOurs(error);
}

function fromWords(said: string): ExecwireError {
  for (const [words, code, fact] of BY_WORDS) {
    const match = words.exec(said);
    if (match) return new ExecwireError(code, said, fact ? { data: { [fact]: match[1] ?? "" } } : {});
  }
  return new ExecwireError("INTERNAL", said);
}

/** The server's words for a start on a tty have several lines. */
function inOneLine(message: string): string {
  return oneLine(message, " ");
}
