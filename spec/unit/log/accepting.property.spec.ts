// A log that accepts what was numbered elsewhere: events, announced losses of any width, and much of it twice.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { Cursor } from "../../../lib/log/cursor.ts";
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

/** What a source sends for a step, from `seq` on. */
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

/** Reads from every seq on, and finds what was sent, or a loss that is one. */
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
  it("gives what it retains, and exact losses, from every seq on", () => {
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

  it("loses nothing that it retains for a loss of many bytes", () => {
    const log = new ReplayLog({ retainedBytes: 10 });
    log.accept({ type: "output", seq: 1, stream: "stdout", chunk: Buffer.from("hello") });
    log.accept({ type: "gap", firstSeq: 2, lastSeq: 9, bytes: 1_000 });
    expect([log.firstSeq, log.retainedBytes, log.offsetAfter(9)]).toEqual([1, 5, 1_005]);
  });

  it("is read by the same cursor as a log that is appended to", () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const cursor = new Cursor(log);
    for (let seq = 1; seq <= 4; seq += 1) {
      log.accept({ type: "output", seq, stream: "stdout", chunk: Buffer.from("1234") });
    }
    expect(cursor.next()).toEqual({ type: "gap", firstSeq: 1, lastSeq: 2, bytes: 8 });
  });

  it.each<[string, Sent[]]>([
    ["a hole", [{ type: "gap", firstSeq: 2, lastSeq: 3 }]],
    ["an end without an exit", [{ type: "closed", seq: 1, bytes: { stdout: 0, stderr: 0, pty: 0 } }]],
    [
      "a second exit",
      [
        { type: "exited", seq: 1, ...exitOf(0) },
        { type: "exited", seq: 2, ...exitOf(0) },
      ],
    ],
    [
      "something after the end",
      [
        { type: "exited", seq: 1, ...exitOf(0) },
        { type: "closed", seq: 2, bytes: { stdout: 0, stderr: 0, pty: 0 } },
        { type: "gap", firstSeq: 3, lastSeq: 3 },
      ],
    ],
  ])("refuses %s", (_what, sent) => {
    const log = new ReplayLog();
    const accepted = sent.map((each) => log.accept(each));
    expect(accepted.pop()).toBe(false);
    expect(accepted).not.toContain(false);
  });

  it("refuses a loss of an exit that was announced, and another exit", () => {
    const log = new ReplayLog();
    expect(log.announceExit({ type: "exited", seq: 3, ...exitOf(0) })).toBe(true);
    expect(log.announceExit({ type: "exited", seq: 3, ...exitOf(1) })).toBe(false);
    expect(log.accept({ type: "gap", firstSeq: 1, lastSeq: 3 })).toBe(false);
    expect(log.accept({ type: "gap", firstSeq: 1, lastSeq: 2 })).toBe(true);
    expect(log.accept({ type: "output", seq: 3, stream: "stdout", chunk: Buffer.from("x") })).toBe(false);
    expect(log.accept({ type: "exited", seq: 3, ...exitOf(0) })).toBe(true);
  });
});
