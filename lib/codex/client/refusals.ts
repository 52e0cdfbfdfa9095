// A server's refusals, as our own error codes. The dialect has few numbers, so the message decides too; the patterns match the
// messages of the Codex exec-server.
import type { ErrorCode, SpawnFailureKind } from "../../../protocol/index.ts";
import { ExecwireError, oneLine } from "../../errors.ts";
import { CODE, CodexError } from "../codex-error.ts";
import { isMap } from "../decode.ts";

/** Linux error numbers in the message of a failed start, and the kind of failure. */
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

/**
 * Message patterns, their code, and the name of the fact that they capture. The last two patterns are our own server's
 * messages.
 */
const BY_MESSAGE: readonly (readonly [pattern: RegExp, code: ErrorCode, fact?: string])[] = [
  [/already exists/i, "PROCESS_EXISTS"],
  [/(unknown|no) process/i, "PROCESS_UNKNOWN"],
  [/is starting/i, "PROCESS_STARTING"],
  [/the limit (\w+) is/, "LIMIT_EXCEEDED", "limit"],
  [/^write id (.+) was used before/, "WRITE_ID_CONFLICT", "writeId"],
];

/** Decodes the `error` member of a reply. A malformed one is an error all the same. */
export function errorOf(error: unknown): CodexError {
  if (!isMap(error)) return new CodexError(CODE.failed, "the server sent an error without details");
  const { code, message, data } = error;
  return new CodexError(
    typeof code === "number" ? code : CODE.failed,
    typeof message === "string" ? message : "the server gave no reason",
    isMap(data) ? data : undefined,
  );
}

/** A refused call as our own error. INVALID_PARAMS means a bug in this client, which sent those params. */
export function fromCodexError({ code, message, data }: CodexError): ExecwireError {
  const text = inOneLine(message);
  if (code === CODE.invalidParams) return new ExecwireError("INVALID_PARAMS", text);
  if (code === CODE.unknownMethod) return new ExecwireError("UNSUPPORTED", text);
  if (code === CODE.refused) return fromMessage(text);
  const facts = typeof data?.kind === "string" ? { data: { kind: data.kind } } : {};
  return new ExecwireError("INTERNAL", text, facts);
}

/** A refused start as our own error. The server does not report which path it means, so `data` has none either. */
export function fromStartError(error: CodexError, program: string): ExecwireError {
  if (error.code !== CODE.failed) return fromCodexError(error);
  const errno = /\(os error (\d+)\)/.exec(error.message)?.[1] ?? "";
  const kind = BY_KIND[String(error.data?.kind)] ?? BY_ERRNO[errno] ?? "failed";
  const text = inOneLine(error.message);
  return new ExecwireError("SPAWN_FAILED", `cannot start ${program}: ${text}`, { data: { kind } });
}

/** A refused call as our own error. */
export function asOurs(error: CodexError | ExecwireError): ExecwireError {
  return error instanceof ExecwireError ? error : fromCodexError(error);
}

/** The same, thrown. */
export function refused(error: CodexError | ExecwireError): never {
  throw asOurs(error);
}

function fromMessage(text: string): ExecwireError {
  for (const [pattern, code, fact] of BY_MESSAGE) {
    const match = pattern.exec(text);
    if (match) return new ExecwireError(code, text, fact ? { data: { [fact]: match[1] ?? "" } } : {});
  }
  return new ExecwireError("INTERNAL", text);
}

/** The server's message for a failed start on a tty has several lines. */
function inOneLine(message: string): string {
  return oneLine(message, " ");
}
