// Promises of ReplayLog beyond the model of the property spec: identity of bytes, back-pressure, and released memory.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";

describe("a replay log", () => {
  it("keeps the bytes it is given without copying them", () => {
    const log = new ReplayLog();
    const chunk = Buffer.from("hello");
    log.appendOutput("stdout", chunk);
    expect(log.next(0)).toHaveProperty("chunk", chunk);
    expect((log.next(0) as { chunk: Uint8Array }).chunk).toBe(chunk);
  });

  it("uses no seq for an empty chunk", () => {
    const log = new ReplayLog();
    print(log, "");
    print(log, "a");
    expect([log.headSeq, log.next(0)]).toEqual([1, expect.objectContaining({ seq: 1 })]);
  });

  it("gives every reader after the end the same answer", () => {
    const log = new ReplayLog();
    exit(log, 3);
    log.appendClosed();
    expect([log.next(2), log.next(100), log.closed, log.exited?.exitCode]).toEqual([undefined, undefined, true, 3]);
  });

  it("ignores a failure after the end, and keeps the first of two failures", () => {
    const closed = new ReplayLog();
    closed.appendClosed();
    closed.fail(cancelled);
    expect(closed.failure).toBeUndefined();
    const failed = new ReplayLog();
    failed.fail(cancelled);
    failed.fail(new ExecwireError("INTERNAL", "a later reason"));
    expect(failed.failure).toBe(cancelled);
  });

  it("wakes a listener once for each registration, until it stops", () => {
    const log = new ReplayLog();
    let wakes = 0;
    const wake = () => {
      wakes += 1;
    };
    const stops = [log.onAppend(wake), log.onAppend(wake)];
    print(log, "a");
    stops[0]?.();
    print(log, "b");
    stops[1]?.();
    print(log, "c");
    expect(wakes).toBe(3);
  });

  it("frees its share of the budget when it is forgotten, and stays readable for its readers", () => {
    const budget = new MemoryBudget(1000);
    const log = new ReplayLog({ budget, eventOverheadBytes: 10 });
    print(log, "hello");
    exit(log);
    expect(budget.used).toBe(5 + 20);
    log.forget();
    expect([budget.used, log.next(0)]).toEqual([0, expect.objectContaining({ seq: 1 })]);
  });
});

describe("a held replay log", () => {
  const options = { retainedBytes: 100, chunkBytes: 10, retainedEvents: 1000 };

  it("pauses the writer before a reader could lose anything, and resumes it once the reader has read", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog(options, { onPressure: (full) => pressure.push(full) });
    let position = 0;
    const hold = log.hold(() => position);
    for (let chunk = 0; chunk < 6; chunk += 1) print(log, "0123456789");
    expect(pressure).toEqual([]);
    print(log, "x");
    expect(pressure).toEqual([true]);
    position = 7;
    hold.renew();
    expect(pressure).toEqual([true, false]);
  });

  it("resumes the writer when the last reader leaves", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog(options, { onPressure: (full) => pressure.push(full) });
    const hold = log.hold(() => 0);
    for (let chunk = 0; chunk < 7; chunk += 1) print(log, "0123456789");
    hold.release();
    hold.release();
    expect(pressure).toEqual([true, false]);
  });

  it("also pauses the writer when tiny events fill it", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog({ retainedEvents: 10 }, { onPressure: (full) => pressure.push(full) });
    log.hold(() => 0);
    for (let chunk = 0; chunk < 10; chunk += 1) print(log, "x");
    expect(pressure).toEqual([true]);
  });

  it("does not pause the writer while its reader keeps up, however many events there were", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog({ retainedEvents: 10 }, { onPressure: (full) => pressure.push(full) });
    const hold = log.hold(() => log.headSeq);
    for (let chunk = 0; chunk < 50; chunk += 1) {
      print(log, "x");
      hold.renew();
    }
    expect(pressure).toEqual([]);
  });

  it("reports each first reader after it had none", () => {
    let followed = 0;
    const log = new ReplayLog(options, { onFollowed: () => (followed += 1) });
    const stops = [log.onAppend(() => undefined), log.onAppend(() => undefined)];
    expect(followed).toBe(1);
    for (const stop of stops) stop();
    log.onAppend(() => undefined);
    expect(followed).toBe(2);
  });

  it("evicts what every reader has read when it is trimmed, and nothing else", () => {
    const log = new ReplayLog(options);
    for (const text of ["one", "two", "three", "four"]) print(log, text);
    const hold = log.hold(() => 2);
    log.trim();
    expect(log.firstSeq).toBe(3);
    hold.release();
    log.trim();
    expect([log.firstSeq, log.headSeq]).toEqual([4, 4]);
  });

  it("evicts as much as it adds, and no more, while other logs use up the shared memory", () => {
    const shared = { budget: new MemoryBudget(100), eventOverheadBytes: 0 };
    const [log, other] = [new ReplayLog(shared), new ReplayLog(shared)];
    for (let chunk = 0; chunk < 5; chunk += 1) print(log, "0123456789");
    print(other, "x".repeat(60));
    print(log, "0123456789");
    expect([log.retainedBytes, other.retainedBytes]).toEqual([50, 60]);
  });

  it("returns to its bounds once a reader has read what it held", () => {
    const log = new ReplayLog(options);
    let position = 0;
    const hold = log.hold(() => position);
    for (let chunk = 0; chunk < 15; chunk += 1) print(log, "0123456789");
    expect(log.retainedBytes).toBe(150);
    position = log.headSeq;
    hold.renew();
    expect(log.retainedBytes).toBe(100);
  });

  it("returns to its bounds when a reader with a hold leaves", () => {
    const log = new ReplayLog(options);
    const hold = log.hold(() => 0);
    for (let chunk = 0; chunk < 15; chunk += 1) print(log, "0123456789");
    log.appendClosed();
    hold.release();
    expect(log.retainedBytes).toBe(100);
  });

  it("drops the hold of a reader that does not renew it for a whole lease", () => {
    const log = new ReplayLog({ ...options, retainedBytes: 20 });
    log.hold(() => 0);
    const alive = log.hold(() => 3);
    for (let chunk = 0; chunk < 5; chunk += 1) print(log, "0123456789");
    log.holds.beginLease();
    alive.renew();
    log.holds.endLease();
    print(log, "0123456789");
    expect(log.firstSeq).toBe(4);
    log.holds.endLease();
    print(log, "0123456789");
    expect(log.firstSeq).toBe(6);
  });

  describe("a replay log with a hold that never pauses the writer", () => {
    const OPTIONS = { retainedBytes: 10, chunkBytes: 4, eventOverheadBytes: 0 };
    const chunk = () => Buffer.from("1234");

    it("keeps what follows the position, up to the bytes of the hold, and evicts the oldest beyond", () => {
      const pressures: boolean[] = [];
      const log = new ReplayLog(OPTIONS, { onPressure: (full) => pressures.push(full) });
      log.hold(() => 0, 20);
      for (let count = 0; count < 5; count += 1) log.appendOutput("stdout", chunk());
      expect(log.firstSeq).toBe(1);
      log.appendOutput("stdout", chunk());
      expect([log.firstSeq, log.retainedBytes]).toEqual([2, 20]);
      expect(pressures).toEqual([]);
    });

    it("returns to its own bound as the position moves, and at once on release", () => {
      const log = new ReplayLog(OPTIONS);
      let position = 0;
      const hold = log.hold(() => position, 100);
      for (let count = 0; count < 5; count += 1) log.appendOutput("stdout", chunk());
      position = 2;
      hold.renew();
      expect(log.firstSeq).toBe(3);
      hold.release();
      expect([log.firstSeq, log.retainedBytes]).toEqual([4, 8]);
    });

    it("exceeds neither its bound in events nor the shared memory", () => {
      const budget = new MemoryBudget(16);
      const few = new ReplayLog({ ...OPTIONS, retainedEvents: 3 });
      const poor = new ReplayLog({ ...OPTIONS, budget });
      for (const log of [few, poor]) {
        log.hold(() => 0, 100);
        for (let count = 0; count < 6; count += 1) log.appendOutput("stdout", chunk());
      }
      expect([few.firstSeq, budget.used]).toEqual([4, 16]);
    });
  });
});
