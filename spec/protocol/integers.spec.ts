// Integers on the wire: any encoding that msgpack has, up to what a number can hold exactly.
import { describe, expect, it } from "@jest/globals";
import { checkClientMessage, decode } from "../../protocol/index.ts";
import { bytes } from "../support/wire-notation.ts";

describe("an integer", () => {
  it.each([
    ["fixint", "05"],
    ["uint 8", "cc05"],
    ["uint 16", "cd0005"],
    ["uint 32", "ce00000005"],
    ["uint 64", "cf0000000000000005"],
    ["int 8", "d005"],
    ["int 16", "d10005"],
    ["int 32", "d200000005"],
    ["int 64", "d30000000000000005"],
    ["float 32", "ca40a00000"],
    ["float 64", "cb4014000000000000"],
  ])("may be written as %s", (_name, encoding) => {
    const ack = decode(Buffer.from(bytes(`83 "type"="ack" "channel"=${encoding} "seq"=${encoding}`), "hex"));
    expect(ack).toEqual({ type: "ack", channel: 5, seq: 5 });
    expect(checkClientMessage(ack)).toBeUndefined();
  });

  it("may be as large as a safe integer in 64 bits, and no larger", () => {
    const ack = (encoding: string) =>
      decode(Buffer.from(bytes(`83 "type"="ack" "channel"=01 "seq"=${encoding}`), "hex"));
    expect(ack("cf001fffffffffffff")).toMatchObject({ seq: Number.MAX_SAFE_INTEGER });
    const refused = (encoding: string) => {
      try {
        return checkClientMessage(ack(encoding)) !== undefined;
      } catch {
        return true;
      }
    };
    for (const encoding of ["cf0020000000000000", "cfffffffffffffffff", "d3ffffffffffffffff", "cb3fe0000000000000"]) {
      expect([encoding, refused(encoding)]).toEqual([encoding, true]);
    }
  });
});
