// The check of a message before it is parsed, compared with a simple model: JSON.parse and a recursive counter.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { checkJson } from "../../../lib/codex/check-json.ts";
import { runs } from "../../support/fuzz.ts";

const WIDE = { maxValues: Number.MAX_SAFE_INTEGER, maxDepth: Number.MAX_SAFE_INTEGER };

/** JSON of any value, with blanks of all kinds between its tokens. */
const anyJson = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 0, 1, "\t", "\r\n ".repeat(40)));
const toSource = ([value, space]: readonly [unknown, string | number | undefined]) =>
  JSON.stringify(value, null, typeof space === "string" ? space.slice(0, 10) : space);

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countValues(each), 1);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the values of a message", () => {
  it("are counted as in the parsed tree", () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const source = toSource(json);
        const values = countValues(JSON.parse(source));
        expect(() => checkJson(source, { ...WIDE, maxValues: values })).not.toThrow();
        expect(() => checkJson(source, { ...WIDE, maxValues: values - 1 })).toThrow(
          `JSON-RPC message exceeds the limit of ${values - 1} JSON values`,
        );
      }),
      runs(500),
    );
  });

  it("are not miscounted if blanks fill an array", () => {
    for (const source of [`[${" ".repeat(100)}]`, "[\n]", "[\t\r\n ]"]) {
      expect(() => checkJson(source, { ...WIDE, maxValues: 1 })).not.toThrow();
    }
    expect(() => checkJson(`[${" ".repeat(100)}0]`, { ...WIDE, maxValues: 1 })).toThrow("limit of 1 JSON values");
  });

  it("may be nested as deep as the limit, and not deeper", () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const source = toSource(json);
        const depth = depthOf(JSON.parse(source));
        expect(() => checkJson(source, { ...WIDE, maxDepth: depth })).not.toThrow();
        if (depth > 0) {
          expect(() => checkJson(source, { ...WIDE, maxDepth: depth - 1 })).toThrow("recursion limit exceeded");
        }
      }),
      runs(500),
    );
  });
});

describe("the keys of an object", () => {
  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"\\"":1,"\\u0022":2}',
    '{"":1,"":2}',
    '{"x":[{"y":{"a":1,"b":{"a":1},"a":2}}]}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":{},"b":[],"a":"x"}',
  ])("are refused if one occurs twice: %s", (source) => {
    expect(() => checkJson(source, WIDE)).toThrow("duplicate JSON object key");
  });

  it.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"]}',
    '{"a":"b","b":"a"}',
    '{"a\\\\":1,"a":2}',
    '{"a":",\\"a\\":{[","b":1}',
  ])("may occur again in another object: %s", (source) => {
    expect(() => checkJson(source, WIDE)).not.toThrow();
  });

  it("are never reported as duplicates in the output of JSON.stringify", () => {
    fc.assert(
      fc.property(anyJson, (json) => void checkJson(toSource(json), WIDE)),
      runs(100),
    );
  });
});

describe("the text of a message", () => {
  it("is refused if it has no UTF-8 form", () => {
    for (const source of ['"\\ud800"', '"a\\uDFFFb"', '{"\\ud83d":1}', '["\\ude00\\ud83d"]']) {
      expect(() => checkJson(source, WIDE)).toThrow("lone surrogate");
    }
    for (const source of ['"\\ud83d\\ude00"', '"\\\\ud800"', '"\\u0041"']) {
      expect(() => checkJson(source, WIDE)).not.toThrow();
    }
  });

  it("ends the check even if it is not JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ua0 id\n') }), (source) => {
        let isJson = true;
        try {
          JSON.parse(source);
        } catch {
          isJson = false;
        }
        try {
          checkJson(source, WIDE);
        } catch (error) {
          if (isJson) expect((error as Error).message).toMatch(/duplicate|surrogate/);
        }
      }),
      runs(2000),
    );
  });
});

describe("the id of a message", () => {
  it.each([
    ['{"id":1}', "1"],
    ['{"method":"x","id": 9223372036854775807 ,"params":{"id":2}}', "9223372036854775807"],
    ['{"params":{"id":2},"id":-0}', "-0"],
    ['{"id":"a\\u0062,}","x":1}', '"a\\u0062,}"'],
    ['{"\\u0069d":5}', "5"],
    ['{"params":[{"id":1}]}', undefined],
    ['{"a":"id","b":3}', undefined],
    ['[{"id":1}]', undefined],
    ['{"id":1.0\n}', "1.0"],
    ['{"x":{"id":{"id":7}},"id":[1]}', undefined],
    ["5", undefined],
  ])("is found in %s as it is written", (source, idText) => {
    expect(checkJson(source, WIDE).idText).toBe(idText);
  });
});

/** Text that counts the operations on it: work is counted, since time depends on the load of the machine. */
class CountedText {
  /** Characters that were read one by one. */
  looks = 0;
  /** Characters that searches skipped. */
  searched = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.looks += 1;
    return this.#text.charCodeAt(at);
  }

  indexOf(wanted: string, from: number): number {
    const at = this.#text.indexOf(wanted, from);
    this.searched += (at < 0 ? this.length : at) - from + 1;
    return at;
  }

  includes(wanted: string): boolean {
    return this.#text.includes(wanted);
  }

  slice(start: number, end: number): string {
    return this.#text.slice(start, end);
  }
}

describe("the work of the check", () => {
  const check = (text: CountedText, bounds = WIDE) => checkJson(text as unknown as string, bounds);

  it("is one search for the end of a long string", () => {
    const text = new CountedText(JSON.stringify({ id: 1, params: { chunk: "QUJD".repeat(2 ** 20) } }));
    check(text);
    expect(text.looks).toBeLessThan(100);
    expect(text.searched).toBeLessThan(text.length);
  });

  it.each(["\\\\", '\\"'])("grows linearly with the length of a string of only %s", (pair) => {
    const text = new CountedText(`{"a":"${pair.repeat(2 ** 18)}"}`);
    check(text);
    expect(text.looks).toBeLessThan(3 * text.length);
    expect(text.searched).toBeLessThan(2 * text.length);
  });

  it("does not grow with the values beyond the limit", () => {
    const text = new CountedText(`[${"{},".repeat(2 ** 20)}{}]`);
    expect(() => check(text, { maxValues: 1000, maxDepth: 127 })).toThrow("limit of 1000");
    expect(text.looks).toBeLessThan(10_000);
  });
});
