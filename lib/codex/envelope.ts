// Messages of the dialect: JSON objects that are almost JSON-RPC (no `jsonrpc` member, no batches), one per frame or line.
import { isUtf8 } from "node:buffer";
import { checkJson } from "./check-json.ts";
import type { CodexError } from "./codex-error.ts";
import { isMap } from "./decode.ts";

/** The exec-server's limits on the number of values in a message and on their nesting. */
export const JSON_BOUNDS = { maxValues: 262_144, maxDepth: 127 };

/** Characters of a 64-bit integer with its sign; JSON allows no leading zeros. */
const MAX_ID_CHARS = 20;

/** A decoded message: a request, a notification or a reply. */
export type Envelope =
  | { readonly kind: "request"; readonly id: Id; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: Id; readonly result: unknown }
  | { readonly kind: "error"; readonly id: Id; readonly error: unknown };

/** An id as its JSON source: a string or a 64-bit integer, which a JavaScript number cannot always represent. */
export type Id = string;

/** The id of the reply to a frame that is not a message. */
export const NO_ID: Id = "-1";

/** Parses a message. Throws an Error that says why a frame is not a message. */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  if (!isUtf8(bytes)) throw new Error("invalid UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  // First, because parsing a hostile message takes many times its size in memory.
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

/** Encodes a request, or a notification when `id` is absent. */
export function encodeCall(method: string, params: unknown, id?: number): Buffer {
  return Buffer.from(JSON.stringify(id === undefined ? { method, params } : { id, method, params }));
}

/** Encodes a result. `json` is its source, as text, or in parts when it is large. */
export function encodeResult(id: Id, json: string | readonly Uint8Array[]): Buffer {
  if (typeof json === "string") return Buffer.from(`{"id":${id},"result":${json}}`);
  return Buffer.concat([Buffer.from(`{"id":${id},"result":`), ...json, Buffer.from("}")]);
}

/** Encodes the error reply to a request. */
export function encodeError(id: Id, { code, message, data }: CodexError): Buffer {
  return Buffer.from(`{"error":${JSON.stringify({ code, data, message })},"id":${id}}`);
}

function checkId(id: unknown, source: string | undefined): Id {
  if (typeof id === "string" && source !== undefined) return source;
  if (typeof id !== "number" || source === undefined || !/^-?\d+$/.test(source))
    throw new Error("an id is a string or an integer");
  // Length first: converting many digits to an integer is expensive.
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
