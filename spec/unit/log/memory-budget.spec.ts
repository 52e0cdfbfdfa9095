// Many logs share one memory budget: a log that grows beyond the common limit evicts as much of its own.
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

  it("makes the growing log evict, and spares quiet logs", () => {
    const budget = new MemoryBudget(100);
    const logs = [1, 2].map(() => new ReplayLog({ budget, eventOverheadBytes: 0 })) as [ReplayLog, ReplayLog];
    for (let chunk = 0; chunk < 5; chunk += 1) for (const log of logs) print(log, TEN);
    for (let chunk = 0; chunk < 20; chunk += 1) print(logs[0], TEN);
    expect(logs.map(({ cost }) => cost)).toEqual([50, 50]);
    expect(budget.used).toBe(100);
  });

  it("leaves each log its newest event, however small the budget", () => {
    const budget = new MemoryBudget(5);
    const log = new ReplayLog({ budget, eventOverheadBytes: 0 });
    print(log, TEN);
    print(log, TEN);
    expect([log.firstSeq, log.headSeq]).toEqual([2, 2]);
  });

  it("pauses a writer whose reader has not read, instead of evicting what the reader waits for", () => {
    const budget = new MemoryBudget(50);
    const pressure: boolean[] = [];
    const onPressure = (full: boolean) => pressure.push(full);
    const log = new ReplayLog({ budget, eventOverheadBytes: 0, chunkBytes: 10, retainedBytes: 1000 }, { onPressure });
    log.hold(() => 0);
    for (let chunk = 0; chunk < 6; chunk += 1) print(log, TEN);
    expect([log.firstSeq, pressure]).toEqual([1, [true]]);
  });

  it("frees what a reader kept beyond the budget once the reader has read or left, and no more", () => {
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
