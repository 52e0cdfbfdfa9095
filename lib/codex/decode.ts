// Decodes params of this dialect to typed values. Invalid params are refused with -32602 and the exec-server's message, so that
// a client's author gets the same explanation from both servers.
import { wrongParams } from "./codex-error.ts";

/** How one value is decoded, and its default when absent; without `missing` the value is required. */
export interface Field<T> {
  decode(value: unknown): T;
  readonly missing?: () => T;
}

type Fields = Readonly<Record<string, Field<unknown>>>;

/** The type that a struct with these fields decodes to. */
export type Decoded<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const MAX_U64 = 2 ** 64;

/** A string. */
export const string: Field<string> = {
  decode: (value) => (typeof value === "string" ? value : refuseType(value, "a string")),
};

/** A boolean. */
export const boolean: Field<boolean> = {
  decode: (value) => (typeof value === "boolean" ? value : refuseType(value, "a boolean")),
};

/** An integer from 0 to 2^64-1; approximate above 2^53. */
export const u64: Field<number> = {
  decode(value) {
    if (typeof value !== "number") return refuseType(value, "u64");
    // JSON.parse rounds 2^64-1 to 2^64.
    if (!Number.isInteger(value) || value < 0 || value > MAX_U64) throw wrongParams("invalid number");
    return value;
  },
};

/** Bytes in padded standard base64. */
export const base64: Field<Buffer> = { decode: (value) => decodeBase64(string.decode(value)) };

/** Undefined when absent or null. */
export function optional<T>({ decode }: Field<T>): Field<T | undefined> {
  return { decode: (value) => (value === null ? undefined : decode(value)), missing: () => undefined };
}

/** The default when absent; null is refused. */
export function withDefault<T>({ decode }: Field<T>, value: T): Field<T> {
  return { decode, missing: () => value };
}

/** An array. */
export function listOf<T>(item: Field<T>): Field<readonly T[]> {
  return {
    decode: (value) =>
      Array.isArray(value) ? value.map((each) => item.decode(each)) : refuseType(value, "a sequence"),
  };
}

/** An object whose values are all of one type. */
export function mapOf<T>(item: Field<T>): Field<Readonly<Record<string, T>>> {
  return {
    decode(value) {
      if (!isMap(value)) return refuseType(value, "a map");
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, item.decode(each)]));
    },
  };
}

/** One of the given words. */
export function oneOf<const W extends string>(...words: readonly W[]): Field<W> {
  const quoted = words.map((word) => `\`${word}\``);
  const expected = quoted.length < 3 ? quoted.join(" or ") : `one of ${quoted.join(", ")}`;
  return {
    decode(value) {
      if (typeof value !== "string") return refuseType(value, "string or map");
      if (!words.includes(value as W)) throw wrongParams(`unknown variant \`${value}\`, expected ${expected}`);
      return value as W;
    },
  };
}

/** An object with these fields; other fields are ignored. */
export function struct<F extends Fields>(name: string, fields: F): Field<Decoded<F>> {
  return {
    decode(value) {
      if (!isMap(value)) return refuseType(value, `struct ${name}`);
      const decoded: Record<string, unknown> = {};
      for (const [key, field] of Object.entries(fields)) {
        if (Object.hasOwn(value, key)) decoded[key] = field.decode(value[key]);
        else if (field.missing) decoded[key] = field.missing();
        else throw wrongParams(`missing field \`${key}\``);
      }
      return decoded as Decoded<F>;
    },
  };
}

/** Any value, also none. */
export const anything: Field<unknown> = { decode: (value) => value, missing: () => undefined };

/** For methods without params: absent, null or an empty object. */
export const nothing: Field<undefined> = {
  decode(value) {
    if (value === null || value === undefined) return undefined;
    if (isMap(value) && Object.keys(value).length === 0) return undefined;
    return refuseType(value, "unit");
  },
  missing: () => undefined,
};

/** Whether a value is a JSON object. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws -32602 with what was found and what was expected. */
export function refuseType(value: unknown, expected: string): never {
  throw wrongParams(`invalid type: ${describe(value)}, expected ${expected}`);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string")
    return `string ${JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value)}`;
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (Array.isArray(value)) return "sequence";
  return typeof value === "number" ? "number" : "map";
}

/** Decodes base64 strictly: standard alphabet, padded, no leftover bits. Throws -32602 that names the first invalid symbol. */
export function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  // Node ignores invalid symbols; if encoding again gives the same text, the input was valid.
  if (text.length % 4 === 0 && bytes.toString("base64") === text) return bytes;
  throw wrongParams(base64Fault(Buffer.from(text)));
}

const PAD = 0x3d;
const BASE64_SYMBOLS = new Set(Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"));

/** The problem, with the messages and the order of checks of the exec-server. Only the last group may contain padding. */
function base64Fault(text: Buffer): string {
  const { length } = text;
  const rest = length % 4;
  const lastGroup = length - (rest === 0 ? 4 : rest);
  const invalidSymbol = (at: number) => `Invalid symbol ${text[at]}, offset ${at}.`;
  if (rest === 1 && text[length - 1] !== PAD && !BASE64_SYMBOLS.has(text[length - 1]!))
    return invalidSymbol(length - 1);
  let padding: number | undefined;
  for (let at = 0; at < length; at += 1) {
    const byte = text[at]!;
    if (byte === PAD && at >= lastGroup + 2) padding ??= at;
    else if (padding !== undefined) return invalidSymbol(padding);
    else if (!BASE64_SYMBOLS.has(byte)) return invalidSymbol(at);
  }
  const end = padding ?? length;
  if (end - lastGroup === 1) return `Invalid input length: ${length}`;
  if (rest !== 0) return "Invalid padding";
  return `Invalid last symbol ${text[end - 1]}, offset ${end - 1}.`;
}
