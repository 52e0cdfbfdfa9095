// A log that begins again, or learns of its end early: what its readers, its budget and its writer then see.
import { describe, expect, it } from "@jest/globals";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";
import { exitOf } from "./log-model.ts";

describe("a log that restarts", () => {
  it("is as new: no bytes, no cost, and no offset of the exit", () => {
    const budget = new MemoryBudget(1_000_000);
    const log = new ReplayLog({ budget });
    print(log, "12345");
    exit(log);
    print(log, "678", "stderr");
    expect([budget.used > 0, log.offsetAfter(2)]).toEqual([true, 5]);
    expect(log.restart()).toBe(true);
    expect([budget.used, log.cost, log.headSeq, log.firstSeq, log.retainedBytes]).toEqual([0, 0, 0, 1, 0]);
    expect([log.printed, log.offsetAfter(2), log.offsetAfter(0)]).toEqual([
      { stdout: 0, stderr: 0, pty: 0 },
      undefined,
      0,
    ]);
  });

  it("may do so again once a reader has seen the beginning, and only then", () => {
    const log = new ReplayLog();
    print(log, "a");
    print(log, "b");
    expect([log.restart(), log.restart()]).toEqual([true, false]);
    print(log, "a");
    print(log, "b");
    // The third time after the refusal; a reader in the middle does not count.
    expect(log.restart()).toBe(true);
    print(log, "a");
    print(log, "b");
    log.next(1);
    expect(log.restart()).toBe(false);
    expect(log.restart()).toBe(true);
    print(log, "a");
    log.next(0);
    expect(log.restart()).toBe(true);
  });

  it("does so for holds at the beginning or at the head, and for none in between", () => {
    const at = (position: number) => {
      const log = new ReplayLog();
      for (const text of ["a", "b", "c"]) print(log, text);
      log.hold(() => position);
      return log.restart();
    };
    expect([at(0), at(1), at(2), at(3)]).toEqual([true, false, false, true]);
  });
});

describe("an exit that is announced", () => {
  it("is known at once, to readers that wait too", () => {
    const log = new ReplayLog();
    print(log, "a");
    let wakes = 0;
    log.onAppend(() => {
      wakes += 1;
    });
    const announced = { type: "exited", seq: 3, ...exitOf(0) } as const;
    expect([log.announceExit(announced), wakes, log.exited, log.headSeq]).toEqual([true, 1, announced, 1]);
    expect([log.announceExit(announced), log.announceExit({ ...announced, exitCode: 1 })]).toEqual([true, false]);
  });

  it("is refused when its seq is covered, or the log has ended", () => {
    const log = new ReplayLog();
    print(log, "a");
    print(log, "b");
    for (const seq of [1, 2]) expect(log.announceExit({ type: "exited", seq, ...exitOf(0) })).toBe(false);
    expect(log.exited).toBeUndefined();
    log.appendClosed();
    expect(log.announceExit({ type: "exited", seq: 9, ...exitOf(0) })).toBe(false);
  });

  it("ends a gap right before it, wherever it lies in the lost range", () => {
    for (const seq of [1, 2, 3, 4]) {
      const log = new ReplayLog({ retainedEvents: 1 });
      for (let at = 1; at <= 5; at += 1) at === seq ? exit(log) : print(log, "x");
      const read: unknown[] = [];
      for (let after = 0; after < 5; ) {
        const delivery = log.next(after);
        if (typeof delivery !== "object") break;
        after = delivery.type === "gap" ? delivery.lastSeq : delivery.seq;
        read.push(delivery.type === "gap" ? [delivery.firstSeq, after] : after);
      }
      const before = seq > 1 ? [[1, seq - 1]] : [];
      const behind = seq < 4 ? [[seq + 1, 4]] : [];
      expect(read).toEqual([...before, seq, ...behind, 5]);
    }
  });
});

it("a log that fails lets its writer go on", () => {
  const pressure: boolean[] = [];
  const log = new ReplayLog({ pauseAtBytes: 2 }, { onPressure: (full) => pressure.push(full) });
  log.hold(() => 0);
  print(log, "1234");
  log.fail(cancelled);
  expect(pressure).toEqual([true, false]);
});

it("a chunk of exactly the greatest size stays whole, and one byte more is split", () => {
  const log = new ReplayLog({ chunkBytes: 4 });
  const chunk = Buffer.from("1234");
  log.appendOutput("stdout", chunk);
  log.appendOutput("stdout", Buffer.from("12345"));
  const [first, second, third] = [0, 1, 2].map((seq) => log.next(seq)) as { chunk: Uint8Array }[];
  expect(first?.chunk).toBe(chunk);
  expect([second?.chunk.length, third?.chunk.length]).toEqual([4, 1]);
});
