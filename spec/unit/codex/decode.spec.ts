// Params that are valid, and the messages for invalid ones, which are those of the exec-server.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import {
  anything,
  base64,
  boolean,
  decodeBase64,
  type Field,
  listOf,
  mapOf,
  nothing,
  oneOf,
  optional,
  string,
  struct,
  u64,
  withDefault,
} from "../../../lib/codex/decode.ts";
import { runs } from "../../support/fuzz.ts";

/** The message about an invalid value. */
function refusalOf(field: Field<unknown>, value: unknown): string {
  try {
    return `accepted: ${JSON.stringify(field.decode(value))}`;
  } catch (error) {
    if (error instanceof CodexError && error.code === -32602) return error.message;
    throw error;
  }
}

describe("a value of another type", () => {
  it.each([
    [string, 5, "invalid type: number, expected a string"],
    [string, true, "invalid type: boolean `true`, expected a string"],
    [string, null, "invalid type: null, expected a string"],
    [string, [], "invalid type: sequence, expected a string"],
    [string, {}, "invalid type: map, expected a string"],
    [boolean, "x", 'invalid type: string "x", expected a boolean'],
    [boolean, null, "invalid type: null, expected a boolean"],
    [u64, "x", 'invalid type: string "x", expected u64'],
    [u64, true, "invalid type: boolean `true`, expected u64"],
    [u64, [], "invalid type: sequence, expected u64"],
    [u64, -1, "invalid number"],
    [u64, 1.5, "invalid number"],
    [u64, 1e30, "invalid number"],
    [u64, Number.POSITIVE_INFINITY, "invalid number"],
    [listOf(string), "x", 'invalid type: string "x", expected a sequence'],
    [listOf(string), {}, "invalid type: map, expected a sequence"],
    [listOf(string), [1], "invalid type: number, expected a string"],
    [mapOf(string), [], "invalid type: sequence, expected a map"],
    [mapOf(string), { a: null }, "invalid type: null, expected a string"],
    [oneOf("interrupt"), "terminate", "unknown variant `terminate`, expected `interrupt`"],
    [oneOf("read", "replace"), "zz", "unknown variant `zz`, expected `read` or `replace`"],
    [
      oneOf("managed", "disabled", "external"),
      "bad",
      "unknown variant `bad`, expected one of `managed`, `disabled`, `external`",
    ],
    [oneOf("interrupt"), null, "invalid type: null, expected string or map"],
    [oneOf("interrupt"), 5, "invalid type: number, expected string or map"],
    [struct("WireExecParams", {}), null, "invalid type: null, expected struct WireExecParams"],
    [struct("WireExecParams", {}), undefined, "invalid type: null, expected struct WireExecParams"],
    [struct("WireContext", {}), "x", 'invalid type: string "x", expected struct WireContext'],
    [struct("S", { a: string, b: string }), { b: 5 }, "missing field `a`"],
    [nothing, { a: 1 }, "invalid type: map, expected unit"],
    [nothing, [], "invalid type: sequence, expected unit"],
    [nothing, 5, "invalid type: number, expected unit"],
    [nothing, false, "invalid type: boolean `false`, expected unit"],
  ] as readonly (readonly [Field<unknown>, unknown, string])[])(
    "%# is refused, and the refusal names the field",
    (field, value, words) => {
      expect(refusalOf(field, value)).toBe(words);
    },
  );

  it("is quoted in shortened form", () => {
    expect(refusalOf(boolean, "x".repeat(1000)).length).toBeLessThan(200);
  });
});

describe("a struct in params", () => {
  const params = struct("S", {
    name: string,
    note: optional(string),
    count: withDefault(u64, 7),
    rest: anything,
  });

  it("ignores unknown fields, and inherits none", () => {
    expect(params.decode({ name: "a", zz: 1 })).toEqual({ name: "a", note: undefined, count: 7, rest: undefined });
    expect(refusalOf(params, Object.create({ name: "a" }))).toBe("missing field `name`");
  });

  it("accepts null for optional fields, and refuses it for fields with a default", () => {
    expect(params.decode({ name: "a", note: null, rest: null })).toMatchObject({ note: undefined, rest: null });
    expect(refusalOf(params, { name: "a", count: null })).toBe("invalid type: null, expected u64");
  });

  it("accepts numbers up to the largest of 64 bits", () => {
    expect(params.decode(JSON.parse('{"name":"a","count":18446744073709551615}')).count).toBe(2 ** 64);
  });

  it("keeps the keys of maps unchanged", () => {
    const decoded = mapOf(string).decode(JSON.parse('{"__proto__":"x","A=B":"","":"y"}'));
    expect(Object.entries(decoded)).toEqual([
      ["__proto__", "x"],
      ["A=B", ""],
      ["", "y"],
    ]);
  });

  it.each([undefined, null, {}])("without fields may be %j", (value) => {
    expect(nothing.decode(value)).toBeUndefined();
  });
});

describe("a base64 value", () => {
  it("is decoded if it is padded and complete", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(Buffer.compare(base64.decode(Buffer.from(bytes).toString("base64")), bytes)).toBe(0);
      }),
      runs(100),
    );
  });

  it.each([
    ["a", "Invalid input length: 1"],
    ["abcde", "Invalid input length: 5"],
    ["ab", "Invalid padding"],
    ["abc", "Invalid padding"],
    ["ab=", "Invalid padding"],
    ["YQ", "Invalid padding"],
    ["aGk", "Invalid padding"],
    ["abcdef", "Invalid padding"],
    ["ab==", "Invalid last symbol 98, offset 1."],
    ["aGl=", "Invalid last symbol 108, offset 2."],
    ["AAB=", "Invalid last symbol 66, offset 2."],
    ["a=", "Invalid symbol 61, offset 1."],
    ["=", "Invalid symbol 61, offset 0."],
    ["====", "Invalid symbol 61, offset 0."],
    ["a===", "Invalid symbol 61, offset 1."],
    ["YQ==YQ==", "Invalid symbol 61, offset 2."],
    ["aGk=aGk=", "Invalid symbol 61, offset 3."],
    ["aGk=a", "Invalid symbol 61, offset 3."],
    ["aGk=\n", "Invalid symbol 10, offset 4."],
    ["aGk =", "Invalid symbol 32, offset 3."],
    [" aGk=", "Invalid symbol 32, offset 0."],
    ["a-_=", "Invalid symbol 45, offset 1."],
    ["日本", "Invalid symbol 230, offset 0."],
    ["aGkaGk日", "Invalid symbol 165, offset 8."],
    ["ab=c", "Invalid symbol 61, offset 2."],
    ["A=A=", "Invalid symbol 61, offset 1."],
    ["abcdefgh==", "Invalid symbol 61, offset 8."],
    ["AAAAA=AA", "Invalid symbol 61, offset 5."],
    ["aGl=!", "Invalid symbol 33, offset 4."],
    ["aGkhaGkh!aGk", "Invalid symbol 33, offset 8."],
    ["AAAA\u0000AAA", "Invalid symbol 0, offset 4."],
  ])("%j is refused with the message of the exec-server", (text, words) => {
    expect(refusalOf(base64, text)).toBe(words);
  });

  it("is never accepted if encoding the result gives another text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."AQz/+=-_ é"), maxLength: 12 }), (text) => {
        const refusal = refusalOf(base64, text);
        if (!refusal.startsWith("accepted")) {
          expect(refusal).toMatch(/^Invalid (?:symbol|padding|last symbol|input length)/);
        } else {
          expect(decodeBase64(text).toString("base64")).toBe(text);
        }
      }),
      runs(2000),
    );
  });
});
