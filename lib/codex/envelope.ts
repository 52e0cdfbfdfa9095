// Messages of the dialect: JSON objects that are almost JSON-RPC (no `jsonrpc` member, no batches), one a frame or line.
import { isUtf8 } from "node:buffer";
import { checkJson } from "./check-json.ts";
import type { CodexError } from "./codex-error.ts";
import { isMap } from "./decode.ts";

/** Values in one message, and their nesting, that the exec-server takes at most. */
export const JSON_BOUNDS = { maxValues: 262_144, maxDepth: 127 };

/** Characters of an integer of 64 bits with its sign; JSON allows no leading zeros. */
const MAX_ID_CHARS = 20;

/** A message that asks, tells, or answers. */
export type Envelope =
  | { readonly kind: "request"; readonly id: Id; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: Id; readonly result: unknown }
  | { readonly kind: "error"; readonly id: Id; readonly error: unknown };

/** An id as it stands in the message: a string or a 64-bit integer, which a JavaScript number could not always hold. */
export type Id = string;

/** The id of an answer to what is no message. */
export const NO_ID: Id = "-1";

/** Parses a message. Throws an Error that says why it is none. */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  if (!isUtf8(bytes)) throw new Error("invalid UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  // First, since to parse a hostile message costs many times its size in memory.
  const { idText } = checkJson(text, JSON_BOUNDS);
  const message: unknown = JSON.parse(text);
  if (!isMap(message)) throw new Error("expected a JSON-RPC object");
  if ("trace" in message) checkTrace(message.trace);
  const { method, params } = message;
  if ("method" in message && typeof method !== "string") throw new Error("method must be a string");
  if (!("id" in message)) {
    if (typeof method === "string") return { kind: "notification", method, params };
    throw new Error("a message needs a method or an id");
  }
  const id = checkId(message.id, idText);
  if (typeof method === "string") return { kind: "request", id, method, params };
  if ("result" in message) return { kind: "result", id, result: message.result };
  if ("error" in message) return { kind: "error", id, error: message.error };
  throw new Error("a message with an id needs a method, a result or an error");
}

/** A request, or a notification when it has no id. */
export function encodeCall(method: string, params: unknown, id?: number): Buffer {
  return Buffer.from(JSON.stringify(id === undefined ? { method, params } : { id, method, params }));
}

/** The answer to a request. `json` is the source of the result, as text or as parts of it that are large. */
export function encodeResult(id: Id, json: string | readonly Uint8Array[]): Buffer {
  if (typeof json === "string") return Buffer.from(`{"id":${id},"result":${json}}`);
  return Buffer.concat([Buffer.from(`{"id":${id},"result":`), ...json, Buffer.from("}")]);
}

/** The refusal of a request. */
export function encodeError(id: Id, { code, message, data }: CodexError): Buffer {
  return Buffer.from(`{"error":${JSON.stringify({ code, data, message })},"id":${id}}`);
}

function checkId(id: unknown, source: string | undefined): Id {
  if (typeof id === "string" && source !== undefined) return source;
  if (typeof id !== "number" || source === undefined || !/^-?\d+$/.test(source))
    throw new Error("an id is a string or an integer");
  // By its length first: to convert digits to an integer costs more than their number.
  if (source.length > MAX_ID_CHARS || BigInt.asIntN(64, BigInt(source)) !== BigInt(source))
    throw new Error("an id has at most 64 bits");
  return source;
}

function checkTrace(trace: unknown): void {
  if (trace === null) return;
  if (!isMap(trace)) throw new Error("trace must be an object");
  for (const key of ["traceparent", "tracestate"]) {
    const value = trace[key];
    if (value !== undefined && value !== null && typeof value !== "string") throw new Error(`${key} must be a string`);
  }
}
