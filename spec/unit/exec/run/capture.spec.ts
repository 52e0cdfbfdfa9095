// What a run captures from a log, and how it counts lost output.
import { describe, expect, it } from "@jest/globals";
import type { Excerpt } from "../../../../lib/exec/head-tail.ts";
import { Capture } from "../../../../lib/exec/run/capture.ts";
import type { Delivery, StreamName } from "../../../../protocol/index.ts";

let seq = 0;
const output = (stream: StreamName, text: string): Delivery => ({
  type: "output",
  seq: ++seq,
  stream,
  chunk: Buffer.from(text),
});
const gap = (bytes?: number): Delivery => {
  seq += 10;
  return { type: "gap", firstSeq: seq - 9, lastSeq: seq, ...(bytes !== undefined && { bytes }) };
};
const closed = (bytes: Partial<Record<StreamName, number>>): Delivery => ({
  type: "closed",
  seq: ++seq,
  bytes: { stdout: 0, stderr: 0, pty: 0, ...bytes },
});

function capture(...events: Delivery[]): Capture {
  const taken = new Capture(20);
  for (const event of events) taken.take(event);
  return taken;
}

const plain = ({ head, tail, omittedBytes }: Excerpt) => [
  Buffer.from(head).toString(),
  Buffer.from(tail).toString(),
  omittedBytes,
];
const both = (taken: Capture) => [plain(taken.excerpt("stdout")), plain(taken.excerpt("stderr"))];

describe("the capture of a run", () => {
  it("assigns lost bytes to their streams once the end of the log has the totals", () => {
    const taken = capture(output("stdout", "a"), output("stderr", "b"), gap(50), closed({ stdout: 41, stderr: 11 }));
    expect(both(taken)).toEqual([
      ["a", "", 40],
      ["b", "", 10],
    ]);
    expect(taken.gaps).toBe(1);
  });

  it("assigns lost bytes to stdout while the end is unknown", () => {
    expect(both(capture(gap(50), output("stderr", "b")))).toEqual([
      ["", "", 50],
      ["", "b", 0],
    ]);
  });

  it("assigns lost bytes to stdout if the end of the log does not account for them", () => {
    const taken = capture(gap(50), output("pty", "b"), closed({ pty: 1 }));
    expect(both(taken)[0]).toEqual(["", "b", 50]);
  });

  it("announces a loss of unknown size", () => {
    const taken = capture(output("stdout", "a"), gap(), output("stdout", "b"), closed({ stdout: 2 }));
    expect([both(taken)[0], taken.gaps]).toEqual([["a", "b", 0], 1]);
  });

  it("does not join the output before and after a loss", () => {
    const taken = capture(output("stdout", "before"), gap(5), output("stdout", "after"), closed({ stdout: 16 }));
    expect(both(taken)[0]).toEqual(["before", "after", 5]);
  });
});
