// Incoming messages, compared with what the exec-server accepts, and outgoing messages.
import { describe, expect, it } from "@jest/globals";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { encodeCall, encodeError, encodeResult, JSON_BOUNDS, parseEnvelope } from "../../../lib/codex/envelope.ts";

const parse = (source: string) => parseEnvelope(Buffer.from(source));

describe("an incoming message", () => {
  it.each([
    ['{"id":1,"method":"a/b","params":{"x":1}}', { kind: "request", id: "1", method: "a/b", params: { x: 1 } }],
    ['{"id":"x","method":"a"}', { kind: "request", id: '"x"', method: "a", params: undefined }],
    ['{"jsonrpc":"2.0","method":"a","params":null}', { kind: "notification", method: "a", params: null }],
    ['{"id":-1,"result":{"id":2}}', { kind: "result", id: "-1", result: { id: 2 } }],
    ['{"error":{"code":1,"message":"m"},"id":3}', { kind: "error", id: "3", error: { code: 1, message: "m" } }],
    [' {"id":1,"method":"a","trace":null}\n', { kind: "request", id: "1", method: "a", params: undefined }],
    [
      '{"id":9223372036854775807,"method":"a","trace":{"traceparent":null,"tracestate":"s","z":1}}',
      { kind: "request", id: "9223372036854775807", method: "a", params: undefined },
    ],
    ['{"id":-9223372036854775808,"method":"a"}', { kind: "request", id: "-9223372036854775808", method: "a" }],
    ['{"id":1,"method":"a","__proto__":{"params":1}}', { kind: "request", id: "1", method: "a", params: undefined }],
  ])("is accepted: %s", (source, envelope) => {
    expect(parse(source)).toEqual(envelope);
  });

  it.each([
    ["", /JSON/],
    ["5", /expected a JSON-RPC object/],
    ["[]", /expected a JSON-RPC object/],
    ['[{"id":1,"method":"a"}]', /expected a JSON-RPC object/],
    ['{"id":1,"method":"a"}x', /JSON/],
    ['{"id":1,"method":"a"}{"id":2,"method":"a"}', /JSON|duplicate/],
    ['\ufeff{"id":1,"method":"a"}', /JSON/],
    ["{}", /needs a method or an id/],
    ['{"id":1}', /needs a method, a result or an error/],
    ['{"id":null,"method":"a"}', /id is a string or an integer/],
    ['{"id":true,"method":"a"}', /id is a string or an integer/],
    ['{"id":1.0,"method":"a"}', /id is a string or an integer/],
    ['{"id":1e2,"method":"a"}', /id is a string or an integer/],
    ['{"id":[1],"method":"a"}', /id is a string or an integer/],
    ['{"id":9223372036854775808,"method":"a"}', /at most 64 bits/],
    ['{"id":-9223372036854775809,"method":"a"}', /at most 64 bits/],
    ['{"id":1,"method":null}', /method must be a string/],
    ['{"id":1,"method":5,"result":1}', /method must be a string/],
    ['{"id":1,"method":"a","trace":5}', /trace must be an object/],
    ['{"id":1,"method":"a","trace":{"traceparent":5}}', /traceparent must be a string/],
    ['{"id":1,"id":1,"method":"a"}', /duplicate JSON object key `id`/],
    ['{"id":"\\ud800","method":"a"}', /lone surrogate/],
  ])("is refused: %s", (source, why) => {
    expect(() => parse(source)).toThrow(why);
  });

  it("is refused for an id of thirty million digits before it is parsed, which would take seconds", () => {
    expect(() => parse(`{"id":${"9".repeat(30_000_000)},"method":"a"}`)).toThrow(/an id is|at most 64 bits/);
  });

  it("is refused if it is not UTF-8", () => {
    expect(() => parseEnvelope(Buffer.from([0x22, 0xff, 0x22]))).toThrow("invalid UTF-8");
  });

  it("may be a part of a larger buffer", () => {
    const whole = Buffer.from('xx{"id":1,"method":"a"}yy');
    expect(parseEnvelope(new Uint8Array(whole.buffer, whole.byteOffset + 2, whole.length - 4))).toMatchObject({
      id: "1",
    });
  });

  it("may have as many values and levels as at the exec-server, and no more", () => {
    const wide = (count: number) => `{"id":1,"method":"a","x":[${Array(count).fill(0)}]}`;
    // The object itself, id, method and x are values too.
    expect(parse(wide(JSON_BOUNDS.maxValues - 4))).toMatchObject({ id: "1" });
    expect(() => parse(wide(JSON_BOUNDS.maxValues - 3))).toThrow("limit of 262144 JSON values");
    const deep = (depth: number) => `{"id":1,"method":"a","x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(parse(deep(127))).toMatchObject({ id: "1" });
    expect(() => parse(deep(128))).toThrow("recursion limit exceeded");
  });

  it("is refused before it is parsed, however large it is", () => {
    expect(() => parse("[".repeat(2 ** 24))).toThrow("recursion limit exceeded");
    expect(() => parse(`[${"{},".repeat(2 ** 22)}{}]`)).toThrow("JSON values");
  });
});

describe("an outgoing message", () => {
  it("is a single JSON object", () => {
    expect(encodeCall("m", { a: "é" }).toString()).toBe('{"method":"m","params":{"a":"é"}}');
    expect(encodeCall("m", { a: 1 }, 7).toString()).toBe('{"id":7,"method":"m","params":{"a":1}}');
    expect(encodeError("-1", new CodexError(-32600, "no")).toString()).toBe(
      '{"error":{"code":-32600,"message":"no"},"id":-1}',
    );
    expect(encodeError('"x"', new CodexError(-32603, "no", { kind: "k" })).toString()).toBe(
      '{"error":{"code":-32603,"data":{"kind":"k"},"message":"no"},"id":"x"}',
    );
  });

  it("has the id as it was received, and a result in one or more parts", () => {
    const { id } = parse('{"id":9223372036854775807,"method":"a"}') as { id: string };
    expect(encodeResult(id, "{}").toString()).toBe('{"id":9223372036854775807,"result":{}}');
    expect(encodeResult('"a\\u0062"', [Buffer.from('{"a":"'), Buffer.from('b"}')]).toString()).toBe(
      '{"id":"a\\u0062","result":{"a":"b"}}',
    );
  });
});
