// Many logs within one memory: who adds beyond the common limit gives as much of its own back.
import { describe, expect, it } from "@jest/globals";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { print } from "../../support/log-writing.ts";

const TEN = "0123456789";

describe("a memory budget", () => {
  it("is over only beyond its limit", () => {
    const budget = new MemoryBudget(10);
    budget.add(10);
    expect([budget.used, budget.over]).toEqual([10, false]);
    budget.add(1);
    expect([budget.used, budget.over]).toEqual([11, true]);
    budget.add(-1);
    expect([budget.used, budget.over]).toEqual([10, false]);
  });

  it("makes the log that grows give back, and leaves the quiet ones what they have", () => {
    const budget = new MemoryBudget(100);
    const logs = [1, 2].map(() => new ReplayLog({ budget, eventOverheadBytes: 0 })) as [ReplayLog, ReplayLog];
    for (let chunk = 0; chunk < 5; chunk += 1) for (const log of logs) print(log, TEN);
    for (let chunk = 0; chunk < 20; chunk += 1) print(logs[0], TEN);
    expect(logs.map(({ cost }) => cost)).toEqual([50, 50]);
    expect(budget.used).toBe(100);
  });

  it("leaves a log its newest event, however little there is", () => {
    const budget = new MemoryBudget(5);
    const log = new ReplayLog({ budget, eventOverheadBytes: 0 });
    print(log, TEN);
    print(log, TEN);
    expect([log.firstSeq, log.headSeq]).toEqual([2, 2]);
  });

  it("holds a writer back whose reader has not read, rather than lose what the reader waits for", () => {
    const budget = new MemoryBudget(50);
    const pressure: boolean[] = [];
    const onPressure = (full: boolean) => pressure.push(full);
    const log = new ReplayLog({ budget, eventOverheadBytes: 0, chunkBytes: 10, retainedBytes: 1000 }, { onPressure });
    log.hold(() => 0);
    for (let chunk = 0; chunk < 6; chunk += 1) print(log, TEN);
    expect([log.firstSeq, pressure]).toEqual([1, [true]]);
  });

  it("gets back what a reader kept beyond it, once that one has read or is gone, and no more", () => {
    const budget = new MemoryBudget(50);
    const logs = [1, 2].map(() => new ReplayLog({ budget, eventOverheadBytes: 0 })) as [ReplayLog, ReplayLog];
    for (let chunk = 0; chunk < 3; chunk += 1) print(logs[1], TEN);
    let read = 0;
    const hold = logs[0].hold(() => read);
    for (let chunk = 0; chunk < 6; chunk += 1) print(logs[0], TEN);
    expect(logs.map(({ cost }) => cost)).toEqual([60, 30]);
    read = 3;
    hold.renew();
    expect(logs.map(({ cost }) => cost)).toEqual([30, 30]);
    hold.release();
    expect(logs.map(({ cost }) => cost)).toEqual([20, 30]);
  });
});
