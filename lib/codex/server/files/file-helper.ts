// The file methods as a program of its own, for requests with a sandbox: it runs inside it, so that every path and every link in it
// means what it means to a command there, and the kernel decides. It reads requests from stdin, one per line, and ends with it.
// Each message that it prints is a line with the kind and the number of bytes, and then these bytes of JSON.
import { createInterface } from "node:readline";
import { toCodexError } from "../../codex-error.ts";
import { type MethodTable, RawResult, ReplyThen } from "../method.ts";
import { fileMethods } from "./file-methods.ts";
import type { HelperMessageKind } from "./helper-messages.ts";

const methods = fileMethods({ notify: (method, params) => say("notify", { method, params }), signal: forever() });
for await (const line of createInterface({ input: process.stdin })) await answer(line, methods);

async function answer(line: string, table: MethodTable): Promise<void> {
  const { method, params } = JSON.parse(line) as { readonly method: string; readonly params: unknown };
  try {
    const result = await table[method]?.call(params);
    if (result instanceof RawResult) return print("result", result.parts);
    say("result", (result instanceof ReplyThen ? result.result : result) ?? {});
    if (result instanceof ReplyThen) result.begin();
  } catch (error) {
    const { code, message, data } = toCodexError(error);
    say("error", { code, message, data });
  }
}

function say(kind: HelperMessageKind, value: unknown): void {
  print(kind, [Buffer.from(JSON.stringify(value))]);
}

function print(kind: HelperMessageKind, parts: readonly Uint8Array[]): void {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  process.stdout.write(`${kind} ${bytes}\n`);
  for (const part of parts) process.stdout.write(part);
}

/** The program ends by its own end. */
function forever(): AbortSignal {
  return new AbortController().signal;
}
