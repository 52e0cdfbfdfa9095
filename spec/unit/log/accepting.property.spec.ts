// A log that accepts deliveries numbered elsewhere: events, gaps of any width, and many duplicates.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { GapNotice, ProcessEvent, Seq } from "../../../protocol/index.ts";
import { runs } from "../../support/fuzz.ts";
import { exitOf } from "./log-model.ts";

type Sent = ProcessEvent | GapNotice;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant("output" as const), size: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("gap" as const),
      width: fc.integer({ min: 1, max: 20 }),
      bytes: fc.option(fc.nat(50), { nil: undefined, freq: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("exit" as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("again" as const), back: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The delivery that a source sends for a step, from `seq` on. */
function sentFor(drawn: Step, seq: Seq, sent: readonly Sent[]): Sent | undefined {
  switch (drawn.op) {
    case "output":
      return { type: "output", seq, stream: "stdout", chunk: new Uint8Array(drawn.size) };
    case "gap": {
      const { width, bytes } = drawn;
      return { type: "gap", firstSeq: seq, lastSeq: seq + width - 1, ...(bytes !== undefined && { bytes }) };
    }
    case "exit":
      return sent.some(({ type }) => type === "exited") ? undefined : { type: "exited", seq, ...exitOf(0) };
    case "again":
      return sent.at(-1 - drawn.back);
  }
}

const firstOf = (sent: Sent) => (sent.type === "gap" ? sent.firstSeq : sent.seq);
const lastOf = (sent: Sent) => (sent.type === "gap" ? sent.lastSeq : sent.seq);
const bytesOf = (sent: Sent) =>
  sent.type === "gap" ? (sent.bytes ?? Number.NaN) : sent.type === "output" ? sent.chunk.length : 0;

/** Reads from every seq, and expects what was sent, or a gap for what was lost. */
function check(log: ReplayLog, sent: readonly Sent[]): void {
  for (let afterSeq = 0; afterSeq <= log.headSeq; afterSeq += 1) {
    const delivery = log.next(afterSeq);
    const there = sent.find((each) => lastOf(each) > afterSeq);
    if (delivery === undefined || delivery === "loading") {
      expect(afterSeq).toBe(log.headSeq);
    } else if (delivery.type === "gap") {
      expect(delivery.firstSeq).toBe(afterSeq + 1);
      if (afterSeq + 1 >= log.firstSeq) expect(delivery.lastSeq).toBe(there && lastOf(there));
      else expect(delivery.lastSeq).toBeLessThan(log.firstSeq);
      const { exited } = log;
      if (exited) expect(exited.seq < delivery.firstSeq || exited.seq > delivery.lastSeq).toBe(true);
    } else {
      expect(delivery).toEqual(there);
    }
    const offset = log.offsetAfter(afterSeq);
    const before = sent.filter((each) => lastOf(each) <= afterSeq);
    if (offset !== undefined) expect(offset).toBe(before.reduce((sum, each) => sum + bytesOf(each), 0));
  }
}

describe("a log that accepts", () => {
  it("delivers retained events and exact gaps from every seq on", () => {
    const bounds = fc.record({
      retainedBytes: fc.integer({ min: 1, max: 60 }),
      retainedEvents: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(bounds, fc.array(step, { maxLength: 40 }), (drawn, steps) => {
        const log = new ReplayLog(drawn);
        const sent: Sent[] = [];
        for (const each of steps) {
          const next = sentFor(each, log.headSeq + 1, sent);
          if (!next) continue;
          if (firstOf(next) > log.headSeq) sent.push(next);
          expect(log.accept(next)).toBe(true);
          check(log, sent);
          if (log.retainedBytes > drawn.retainedBytes) expect(log.firstSeq).toBe(log.headSeq);
        }
      }),
      runs(500),
    );
  });
});
