// The beginning and the end of a stream, compared with a model: a string cut by hand.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type Excerpt, HeadTail } from "../../../lib/exec/head-tail.ts";
import { runs } from "../../support/fuzz.ts";

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
const caps = fc.integer({ min: 0, max: 60 });

function keep(capBytes: number, pushed: readonly Uint8Array[]): HeadTail {
  const kept = new HeadTail(capBytes);
  for (const chunk of pushed) kept.push(chunk);
  return kept;
}

const plain = ({ head, tail, omittedBytes }: Excerpt) => ({ head: [...head], tail: [...tail], omittedBytes });

describe("the head and tail of a stream", () => {
  it("is the whole stream if it fits", () => {
    fc.assert(
      fc.property(chunks, (pushed) => {
        const whole = Buffer.concat(pushed);
        const { head, tail, omittedBytes } = keep(whole.length, pushed).excerpt();
        expect([Buffer.concat([head, tail]), omittedBytes]).toEqual([whole, 0]);
      }),
      runs(100),
    );
  });

  it("is its first and last bytes if it does not fit, with the odd byte in the head", () => {
    fc.assert(
      fc.property(chunks, caps, (pushed, cap) => {
        const whole = Buffer.concat(pushed);
        fc.pre(whole.length > cap);
        const kept = keep(cap, pushed);
        const tailBytes = Math.floor(cap / 2);
        expect(plain(kept.excerpt())).toEqual({
          head: [...whole.subarray(0, cap - tailBytes)],
          tail: [...whole.subarray(whole.length - tailBytes)],
          omittedBytes: whole.length - cap,
        });
        expect(kept.totalBytes).toBe(whole.length);
      }),
      runs(100),
    );
  });

  it("does not depend on how the stream was cut into chunks", () => {
    fc.assert(
      fc.property(chunks, caps, (pushed, cap) => {
        expect(plain(keep(cap, pushed).excerpt())).toEqual(plain(keep(cap, [Buffer.concat(pushed)]).excerpt()));
      }),
      runs(100),
    );
  });

  it("is the whole stream if there is no bound", () => {
    const kept = keep(Number.POSITIVE_INFINITY, [Buffer.alloc(100_000, "a"), Buffer.alloc(200_000, "b")]);
    const { head, tail, omittedBytes } = kept.excerpt();
    expect([head.length, head[99_999], head[100_000], tail.length, omittedBytes]).toEqual([300_000, 97, 98, 0, 0]);
  });

  it("is a copy, since a chunk belongs to the log", () => {
    const chunk = Buffer.from("abcd");
    const kept = keep(2, [chunk]);
    chunk.fill("x");
    expect(plain(kept.excerpt())).toEqual({ head: [97], tail: [100], omittedBytes: 2 });
  });

  it.each([10, Number.POSITIVE_INFINITY])("does not join bytes after a loss to the head (cap %d)", (cap) => {
    const kept = new HeadTail(cap);
    kept.push(Buffer.from("ab"));
    kept.interrupt();
    kept.push(Buffer.from("yz"));
    expect(plain(kept.excerpt(1000))).toEqual({ head: [97, 98], tail: [121, 122], omittedBytes: 1000 });
  });
});
