// Keys are names that users choose: each arrives under its own name, and means nothing to the program that decodes it.
import { describe, expect, it } from "@jest/globals";
import { Packr } from "msgpackr";
import { decode, encode } from "../../protocol/index.ts";

const map = (json: string) => JSON.parse(json) as object;

describe("a key", () => {
  it.each(["__proto__", "constructor", "toJSON", "hasOwnProperty", "prototype", "__proto_", "length", "then", ""])(
    "keeps its name on every level: %s",
    (name) => {
      const inner = { [name]: "value", other: [map(`{${JSON.stringify(name)}: {"deep": 1}}`)] };
      const message = { type: "change", process: inner, [name]: "top" };
      const decoded = decode(encode(message as never)) as typeof message;
      expect(JSON.stringify(decoded)).toBe(JSON.stringify(message));
      expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
      expect(Object.getPrototypeOf(decoded.process)).toBe(Object.prototype);
    },
  );

  it("keeps its name also where its length is written longer than it need be, beside bytes and numbers", () => {
    const name = Buffer.from("__proto__");
    for (const head of [Buffer.of(0xd9, 9), Buffer.of(0xda, 0, 9), Buffer.of(0xdb, 0, 0, 0, 9)]) {
      const rest = new Packr({ useRecords: false }).pack([Buffer.from("bytes"), 2 ** 40, 0.5, null, true]);
      const decoded = decode(Buffer.concat([Buffer.of(0x81), head, name, rest])) as object;
      expect(Object.keys(decoded)).toEqual(["__proto__"]);
      const [bytes, ...others] = Object.values(decoded)[0];
      expect(Buffer.from(bytes).toString()).toBe("bytes");
      expect(others).toEqual([2 ** 40, 0.5, null, true]);
    }
  });

  it("names no field when it is only a value", () => {
    expect(decode(encode({ type: "__proto__" } as never))).toEqual({ type: "__proto__" });
  });
});
