// What a log accepts from a writer with numbers of its own: a connection, a broker, a file.
import { describe, expect, it } from "@jest/globals";
import { Cursor } from "../../../lib/log/cursor.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { GapNotice, OutputEvent, ProcessEvent } from "../../../protocol/index.ts";
import { exitOf } from "./log-model.ts";

type Sent = ProcessEvent | GapNotice;

/** Events as another program would store them. */
function stored(count: number): OutputEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "output",
    seq: index + 1,
    stream: "stdout",
    chunk: Buffer.from("1234"),
  }));
}

describe("a log that accepts", () => {
  it("evicts nothing because of an announced loss of many bytes", () => {
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
  ])("refuses an impossible delivery: %s", (_what, sent) => {
    const log = new ReplayLog();
    const accepted = sent.map((each) => log.accept(each));
    expect(accepted.pop()).toBe(false);
    expect(accepted).not.toContain(false);
  });

  it("refuses a gap that covers an announced exit, and a different exit", () => {
    const log = new ReplayLog();
    expect(log.announceExit({ type: "exited", seq: 3, ...exitOf(0) })).toBe(true);
    expect(log.announceExit({ type: "exited", seq: 3, ...exitOf(1) })).toBe(false);
    expect(log.accept({ type: "gap", firstSeq: 1, lastSeq: 3 })).toBe(false);
    expect(log.accept({ type: "gap", firstSeq: 1, lastSeq: 2 })).toBe(true);
    expect(log.accept({ type: "output", seq: 3, stream: "stdout", chunk: Buffer.from("x") })).toBe(false);
    expect(log.accept({ type: "exited", seq: 3, ...exitOf(0) })).toBe(true);
  });

  it("restarts for a reader at the beginning if its writer can send everything again", () => {
    const events = stored(5);
    const log: ReplayLog = new ReplayLog(
      { retainedEvents: 2 },
      {
        onMissed: () => log.restart(),
      },
    );
    for (const event of events) log.accept(event);
    expect(log.firstSeq).toBe(4);
    const cursor = new Cursor(log);
    const read: unknown[] = [cursor.next()];
    for (const event of events) {
      log.accept(event);
      read.push(cursor.next());
    }
    expect(read).toEqual(["loading", ...events]);
  });

  it("does not restart while a reader with a hold has to read, nor twice for a reader that does not read", () => {
    let missed = 0;
    const log: ReplayLog = new ReplayLog(
      { retainedEvents: 2 },
      {
        onMissed: () => {
          missed += 1;
          return log.restart();
        },
      },
    );
    const gap = { type: "gap", firstSeq: 1, lastSeq: 3 };
    for (const event of stored(5)) log.accept(event);
    const hold = log.hold(() => 4);
    expect([log.next(0), log.headSeq]).toEqual([gap, 5]);
    hold.release();
    expect([log.next(0), log.headSeq]).toEqual(["loading", 0]);
    for (const event of stored(5)) log.accept(event);
    expect([log.next(0), log.headSeq, missed]).toEqual([gap, 5, 3]);
  });

  it("asks its writer to pause for readers with a hold, like a log that is appended to", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog({ pauseAtBytes: 10 }, { onPressure: (full) => pressure.push(full) });
    let position = 0;
    const hold = log.hold(() => position);
    for (const event of stored(3)) log.accept(event);
    expect(pressure).toEqual([true]);
    position = 1;
    hold.renew();
    expect(pressure).toEqual([true, false]);
  });
});
