// What ReplayLog promises beyond the model of the property spec: identity of bytes, back-pressure, and giving memory back.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";

describe("a replay log", () => {
  it("keeps the very bytes it was given", () => {
    const log = new ReplayLog();
    const chunk = Buffer.from("hello");
    log.appendOutput("stdout", chunk);
    expect(log.next(0)).toHaveProperty("chunk", chunk);
    expect((log.next(0) as { chunk: Uint8Array }).chunk).toBe(chunk);
  });

  it("numbers nothing for an empty chunk", () => {
    const log = new ReplayLog();
    print(log, "");
    print(log, "a");
    expect([log.headSeq, log.next(0)]).toEqual([1, expect.objectContaining({ seq: 1 })]);
  });

  it("answers the same to everybody who asks after the end", () => {
    const log = new ReplayLog();
    exit(log, 3);
    log.appendClosed();
    expect([log.next(2), log.next(100), log.closed, log.exited?.exitCode]).toEqual([undefined, undefined, true, 3]);
  });

  it("takes no failure after the end, and keeps the first of two", () => {
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

  it("gives all its memory back when it is forgotten, and stays readable for who still holds it", () => {
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

  it("asks the writer to pause before a reader could lose anything, and to go on once it has read", () => {
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

  it("asks the writer to go on when the last reader leaves", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog(options, { onPressure: (full) => pressure.push(full) });
    const hold = log.hold(() => 0);
    for (let chunk = 0; chunk < 7; chunk += 1) print(log, "0123456789");
    hold.release();
    hold.release();
    expect(pressure).toEqual([true, false]);
  });

  it("asks for a pause also when tiny events fill it", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog({ retainedEvents: 10 }, { onPressure: (full) => pressure.push(full) });
    log.hold(() => 0);
    for (let chunk = 0; chunk < 10; chunk += 1) print(log, "x");
    expect(pressure).toEqual([true]);
  });

  it("asks for no pause while its reader keeps up, however many events there were", () => {
    const pressure: boolean[] = [];
    const log = new ReplayLog({ retainedEvents: 10 }, { onPressure: (full) => pressure.push(full) });
    const hold = log.hold(() => log.headSeq);
    for (let chunk = 0; chunk < 50; chunk += 1) {
      print(log, "x");
      hold.renew();
    }
    expect(pressure).toEqual([]);
  });

  it("reports each time that it has a reader again after it had none", () => {
    let followed = 0;
    const log = new ReplayLog(options, { onFollowed: () => (followed += 1) });
    const stops = [log.onAppend(() => undefined), log.onAppend(() => undefined)];
    expect(followed).toBe(1);
    for (const stop of stops) stop();
    log.onAppend(() => undefined);
    expect(followed).toBe(2);
  });

  it("drops what every reader has read when it is trimmed, and nothing else", () => {
    const log = new ReplayLog(options);
    for (const text of ["one", "two", "three", "four"]) print(log, text);
    const hold = log.hold(() => 2);
    log.trim();
    expect(log.firstSeq).toBe(3);
    hold.release();
    log.trim();
    expect([log.firstSeq, log.headSeq]).toEqual([4, 4]);
  });

  it("gives back as much as it adds, and no more, while other logs use up the shared memory", () => {
    const shared = { budget: new MemoryBudget(100), eventOverheadBytes: 0 };
    const [log, other] = [new ReplayLog(shared), new ReplayLog(shared)];
    for (let chunk = 0; chunk < 5; chunk += 1) print(log, "0123456789");
    print(other, "x".repeat(60));
    print(log, "0123456789");
    expect([log.retainedBytes, other.retainedBytes]).toEqual([50, 60]);
  });

  it("returns within its bounds once what a reader held was read", () => {
    const log = new ReplayLog(options);
    let position = 0;
    const hold = log.hold(() => position);
    for (let chunk = 0; chunk < 15; chunk += 1) print(log, "0123456789");
    expect(log.retainedBytes).toBe(150);
    position = log.headSeq;
    hold.renew();
    expect(log.retainedBytes).toBe(100);
  });

  it("returns within its bounds when a reader that held it leaves", () => {
    const log = new ReplayLog(options);
    const hold = log.hold(() => 0);
    for (let chunk = 0; chunk < 15; chunk += 1) print(log, "0123456789");
    log.appendClosed();
    hold.release();
    expect(log.retainedBytes).toBe(100);
  });

  it("takes a reader for gone that shows no sign of life for a whole lease", () => {
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

  describe("asked to keep more without being paused", () => {
    const OPTIONS = { retainedBytes: 10, chunkBytes: 4, eventOverheadBytes: 0 };
    const chunk = () => Buffer.from("1234");

    it("keeps what follows the position, up to that many bytes, and lets the oldest go beyond", () => {
      const pressures: boolean[] = [];
      const log = new ReplayLog(OPTIONS, { onPressure: (full) => pressures.push(full) });
      log.hold(() => 0, 20);
      for (let count = 0; count < 5; count += 1) log.appendOutput("stdout", chunk());
      expect(log.firstSeq).toBe(1);
      log.appendOutput("stdout", chunk());
      expect([log.firstSeq, log.retainedBytes]).toEqual([2, 20]);
      expect(pressures).toEqual([]);
    });

    it("goes back to its own bound as the position moves, and at once on release", () => {
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

    it("keeps nothing beyond its bound in events, nor beyond the shared memory", () => {
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
