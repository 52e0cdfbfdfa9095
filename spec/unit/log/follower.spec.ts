// A follower step by step: when it subscribes, what it drops, what it refuses, and what it keeps.
import { describe, expect, it } from "@jest/globals";
import { firstValueFrom, toArray } from "rxjs";
import { ExecwireError } from "../../../lib/errors.ts";
import { Cursor } from "../../../lib/log/cursor.ts";
import { Follower, type FollowerOptions } from "../../../lib/log/follower.ts";
import { DeliveryIterator } from "../../../lib/log/iterate.ts";
import { observe } from "../../../lib/log/observe.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { OutputEvent, ProcessEvent } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { print } from "../../support/log-writing.ts";
import { closed, exited, output, seen } from "../../support/transcript.ts";
import { FollowingReader, Line } from "./follower-model.ts";

/** A follower whose source records what it is asked for. */
function make(options: Partial<FollowerOptions> = {}) {
  const asked: string[] = [];
  const follower = new Follower(
    {
      subscribe: (afterSeq, delivery) => asked.push(`subscribe ${afterSeq} ${delivery}`),
      unsubscribe: () => asked.push("unsubscribe"),
      ack: (seq) => asked.push(`ack ${seq}`),
    },
    { delivery: "gap", ...options },
  );
  return { follower, log: follower.log, asked };
}

function event(seq: number, text = "x"): OutputEvent {
  return { type: "output", seq, stream: "stdout", chunk: Buffer.from(text) };
}

const nothing = () => undefined;

describe("a follower", () => {
  it("subscribes with its first reader and unsubscribes with its last", () => {
    const { log, asked } = make();
    expect(asked).toEqual([]);
    const stops = [log.onAppend(nothing), log.onAppend(nothing)];
    stops[0]?.();
    expect(asked).toEqual(["subscribe 0 gap"]);
    stops[1]?.();
    expect(asked).toEqual(["subscribe 0 gap", "unsubscribe"]);
  });

  it("continues after its head when a reader comes again", () => {
    const { follower, log, asked } = make();
    const stop = log.onAppend(nothing);
    follower.began();
    for (const seq of [1, 2, 3]) follower.accept(event(seq));
    stop();
    log.onAppend(nothing);
    expect(asked).toEqual(["subscribe 0 gap", "unsubscribe", "subscribe 3 gap"]);
  });

  it("unsubscribes when its lossless reader stops in the middle", async () => {
    const { log, asked } = make();
    const reader = new DeliveryIterator(log, 0, "lossless");
    const waiting = reader.next();
    await Promise.resolve();
    await Promise.resolve();
    await reader.return();
    await waiting;
    expect(asked).toEqual(["subscribe 0 lossless", "unsubscribe"]);
  });

  it("ignores duplicates, and refuses a hole", () => {
    const { follower, log } = make();
    follower.follow();
    expect([event(1), event(2), event(1), event(2)].map((each) => follower.accept(each))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(log.headSeq).toBe(2);
    expect(follower.accept(event(4))).toBe(false);
    expect(follower.accept({ type: "gap", firstSeq: 4, lastSeq: 9 })).toBe(false);
    expect(log.headSeq).toBe(2);
    expect(follower.accept({ type: "gap", firstSeq: 3, lastSeq: 9 })).toBe(true);
    expect(log.headSeq).toBe(9);
  });

  it("ignores deliveries of an earlier subscription", () => {
    const { follower, log } = make();
    log.onAppend(nothing);
    expect(follower.accept(event(1, "late"))).toBe(true);
    expect(log.headSeq).toBe(0);
    follower.began();
    follower.accept(event(1, "right"));
    expect(seen(log.next(0) as OutputEvent)).toEqual(output(1, "stdout", "right"));
  });

  it("gives the rest of a gap to a reader that begins in its middle", () => {
    const { follower, log } = make();
    follower.follow();
    follower.accept({ type: "gap", firstSeq: 1, lastSeq: 9, bytes: 90 });
    expect(log.next(4)).toEqual({ type: "gap", firstSeq: 5, lastSeq: 9 });
  });

  it("reports the exact lost bytes to a reader that began ahead of an empty log", () => {
    const { follower, log } = make({ retainedBytes: 2 });
    const cursor = new Cursor(log, 1);
    follower.follow();
    for (const seq of [1, 2]) follower.accept(event(seq));
    expect(cursor.next()).toEqual(event(2));
    for (const seq of [3, 4, 5, 6]) follower.accept(event(seq));
    expect(cursor.next()).toEqual({ type: "gap", firstSeq: 3, lastSeq: 4, bytes: 2 });
  });

  it("acknowledges what was read in steps of a quarter of its window", () => {
    const { follower, log, asked } = make({ delivery: "lossless", windowBytes: 40 });
    let position = 0;
    const hold = log.hold(() => position);
    follower.follow();
    for (let seq = 1; seq <= 8; seq += 1) follower.accept(event(seq, "12345"));
    for (; position < 8; ) {
      position += 1;
      hold.renew();
    }
    expect(asked).toEqual(["ack 2", "ack 4", "ack 6", "ack 8"]);
  });

  it("acknowledges deliveries while no reader holds them, so that the source does not wait", () => {
    const { follower, asked } = make({ delivery: "lossless", windowBytes: 40 });
    follower.follow();
    for (let seq = 1; seq <= 4; seq += 1) follower.accept(event(seq, "12345"));
    expect(asked).toEqual(["ack 2", "ack 4"]);
  });

  it("keeps what a lossless reader has not read, even beyond its own bounds", () => {
    const { follower, log } = make({ delivery: "lossless", retainedBytes: 10 });
    let position = 0;
    const hold = log.hold(() => position);
    follower.follow();
    for (let seq = 1; seq <= 9; seq += 1) follower.accept(event(seq, "12345"));
    expect(log.firstSeq).toBe(1);
    position = 5;
    hold.renew();
    follower.accept(event(10, "12345"));
    expect(log.firstSeq).toBe(6);
    // Another reader continues.
    log.onAppend(() => undefined);
    hold.release();
    follower.accept(event(11, "12345"));
    expect(log.firstSeq).toBe(10);
  });

  it("acknowledges events without bytes soon, and the end at once", () => {
    const clock = new FakeClock();
    const { follower, asked } = make({ delivery: "lossless", windowBytes: 40, clock });
    follower.follow();
    follower.accept({ type: "resized", seq: 1, size: { rows: 1, cols: 1 } });
    expect(asked).toEqual([]);
    clock.advance(5);
    expect(asked).toEqual(["ack 1"]);
    for (const each of [exited(2), closed(3)]) follower.accept(each);
    expect(asked).toEqual(["ack 1", "ack 3"]);
  });

  it("holds the source back for a lossless reader among viewers only while it reads", () => {
    const { follower, log, asked } = make();
    log.onAppend(nothing);
    follower.began();
    follower.accept(event(1));
    log.hold(() => 1).release();
    expect(asked).toEqual(["subscribe 0 gap", "subscribe 1 lossless", "subscribe 1 gap"]);
  });

  it("continues after a cut when its reader has caught up before the source has confirmed", () => {
    const { follower, log, asked } = make({ delivery: "lossless", windowBytes: 20 });
    let position = 0;
    const hold = log.hold(() => position);
    follower.follow();
    for (let seq = 1; seq <= 4; seq += 1) follower.accept(event(seq, "12345"));
    // After the cut the source sends no more before this is acknowledged.
    follower.subscribe();
    position = 4;
    hold.renew();
    expect(asked).toEqual(["subscribe 4 lossless"]);
    follower.began();
    expect(asked).toEqual(["subscribe 4 lossless", "ack 4"]);
  });

  it("loses nothing for a lossless reader when another one begins further back", () => {
    const { follower, log, asked } = make({ delivery: "lossless", retainedBytes: 10, windowBytes: 10 });
    let position = 0;
    const hold = log.hold(() => position);
    follower.follow();
    for (const seq of [1, 2]) follower.accept(event(seq, "12345"));
    position = 2;
    hold.renew();
    log.hold(() => 0);
    hold.renew();
    // The last reader begins within the window.
    for (const each of [event(3, "12345"), event(4, "123456789")]) follower.accept(each);
    // Both continue at their positions, and no acknowledgement is taken back.
    expect([log.next(0), log.next(2)]).toEqual([event(1, "12345"), event(3, "12345")]);
    expect(asked).toEqual(["ack 2"]);
  });

  it("drops the hold of a reader that the source considers dead", () => {
    const { follower, log, asked } = make({ delivery: "lossless", retainedBytes: 10, windowBytes: 10 });
    const positions = [0, 1];
    const holds = positions.map((_, which) => log.hold(() => positions[which] as number));
    follower.follow();
    for (const seq of [1, 2]) follower.accept(event(seq, "12345"));
    expect(holds.map(({ isLive }) => isLive)).toEqual([true, true]);
    follower.accept(event(3, "12345"));
    expect(holds.map(({ isLive }) => isLive)).toEqual([false, true]);
    expect(log.firstSeq).toBe(2);
    // For the remaining reader, which has read less than the source believes.
    expect(asked).toEqual(["subscribe 3 lossless"]);
    follower.began();
    // Deliveries on their way are not requested again when the last reader has left.
    log.onAppend(nothing);
    for (const hold of holds) hold.release();
    expect(asked).toEqual(["subscribe 3 lossless", "ack 3"]);
  });

  it("acknowledges the head after dropping its only hold, since the source may still wait", () => {
    const { follower, log, asked } = make({ windowBytes: 10 });
    log.onAppend(nothing);
    const hold = log.hold(() => 0);
    follower.began();
    for (const seq of [1, 2, 3, 4]) follower.accept(event(seq, "12345"));
    expect([hold.isLive, asked]).toEqual([false, ["subscribe 0 gap", "subscribe 0 lossless", "ack 3", "ack 4"]]);
    // The source has no hold for a later reader.
    log.hold(() => 4);
    expect(asked.slice(4)).toEqual(["subscribe 4 lossless"]);
  });

  it("keeps the hold of its reader when the source has evicted the acknowledged position in the meantime", () => {
    const log = new ReplayLog({ retainedBytes: 1_000, chunkBytes: 100 });
    const clock = new FakeClock();
    const line = new Line(log, { delivery: "lossless", windowBytes: 800, retainedBytes: 2_000, clock });
    const printed: ProcessEvent[] = [];
    log.onAppend(() => printed.push(log.next(log.headSeq - 1) as ProcessEvent));
    const reader = new FollowingReader(line.follower.log, printed, 0, true);
    line.step(1);
    for (let count = 0; count < 6; count += 1) print(log, "x".repeat(100));
    line.step(100);
    reader.read(1);
    clock.advance(5);
    line.step(1);
    line.cut();
    // The session expires, and the process prints on.
    log.holds.beginLease();
    log.holds.endLease();
    for (let count = 0; count < 12; count += 1) print(log, "x".repeat(100));
    line.mend();
    line.step(100);
    expect(line.follower.log.holds.floor()).toBe(1);
    for (let moved = true; moved; clock.advance(5)) moved = [line.step(1), reader.read(1)].some(Boolean);
    expect([reader.position, reader.lost, line.follower.log.holds.floor()]).toEqual([18, 2, 18]);
  });

  it("never keeps more than a window of unread output, however often its connection is cut", () => {
    const log = new ReplayLog({ retainedBytes: 100_000 });
    const line = new Line(log, { delivery: "lossless", windowBytes: 1_000, retainedBytes: 2_000 });
    const printed: ProcessEvent[] = [];
    const reader = new FollowingReader(line.follower.log, printed, 0, true);
    for (let count = 0; count < 500; count += 1) print(log, "x".repeat(100));
    for (let seq = 1; seq <= 500; seq += 1) printed.push(log.next(seq - 1) as ProcessEvent);
    for (let round = 0; round < 10; round += 1) {
      line.step(1_000);
      line.cut();
      line.mend();
    }
    expect(line.follower.log.headSeq * 100).toBeLessThanOrEqual(1_500);
    for (let moved = true; moved; ) moved = [line.step(100), reader.read(100)].some(Boolean);
    expect([reader.position, reader.lost]).toEqual([500, 0]);
  });

  it("fetches evicted events from the source again for a reader at the beginning", () => {
    const log = new ReplayLog({ retainedBytes: 10_000 });
    const line = new Line(log, { delivery: "gap", windowBytes: 1_000, retainedBytes: 300 });
    for (let count = 0; count < 20; count += 1) print(log, "x".repeat(100));
    const printed = Array.from({ length: 20 }, (_, index) => log.next(index) as ProcessEvent);
    const early = new FollowingReader(line.follower.log, printed, 0, false);
    while (line.step(1)) early.read(1);
    expect([early.position, early.lost]).toEqual([20, 0]);
    expect(line.follower.log.firstSeq).toBeGreaterThan(1);
    const late = new FollowingReader(line.follower.log, printed, 0, false);
    expect(line.follower.log.next(0)).toBe("loading");
    while (line.step(1)) late.read(1);
    expect([late.position, late.lost]).toEqual([20, 0]);
  });

  it.each([
    ["any reader", false],
    ["a lossless reader, for which the follower subscribes again", true],
  ])(
    "fetches the beginning again for %s, one after another, but not while another reader has to read",
    (_who, lossless) => {
      const log = new ReplayLog({ retainedBytes: 10_000 });
      const line = new Line(log, { delivery: "gap", windowBytes: 1_000, retainedBytes: 300 });
      for (let count = 0; count < 20; count += 1) print(log, "x".repeat(100));
      const printed = Array.from({ length: 20 }, (_, index) => log.next(index) as ProcessEvent);
      const viewer = new FollowingReader(line.follower.log, printed, 0, false);
      while (line.step(1)) viewer.read(1);
      for (let round = 0; round < 2; round += 1) {
        const late = new FollowingReader(line.follower.log, printed, 0, lossless);
        for (let moved = true; moved; ) moved = [late.read(1), line.step(1)].some(Boolean);
        expect([late.position, late.lost]).toEqual([20, 0]);
        late.leave();
      }
      const slow = new FollowingReader(line.follower.log, printed, 19, true);
      while (line.step(1));
      const last = new FollowingReader(line.follower.log, printed, 0, lossless);
      last.read(1);
      expect(last.lost).toBe(line.follower.log.firstSeq - 1);
      expect([slow.read(1), slow.lost]).toEqual([true, 0]);
    },
  );

  it("completes its readers after closed, and fails them without", async () => {
    const { follower, log } = make();
    follower.follow();
    const whole = firstValueFrom(observe(log).pipe(toArray()));
    follower.accept(event(1, "out"));
    follower.accept(exited(2));
    follower.accept(closed(3, { stdout: 3 }));
    log.fail(new ExecwireError("CONNECTION_LOST", "too late to matter"));
    expect((await whole).map(seen)).toEqual([output(1, "stdout", "out"), exited(2), closed(3, { stdout: 3 })]);
    const { log: lost } = make();
    const told = firstValueFrom(observe(lost).pipe(toArray()));
    lost.fail(new ExecwireError("CONNECTION_LOST", "gone"));
    await expect(told).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  it("needs a new subscription after a reconnect only while a reader waits for more", () => {
    const { follower, log } = make();
    expect(follower.wanted).toBe(false);
    const stop = log.onAppend(nothing);
    expect(follower.wanted).toBe(true);
    stop();
    expect(follower.wanted).toBe(false);
    log.onAppend(nothing);
    follower.began();
    follower.accept(exited(1));
    follower.accept(closed(2));
    expect(follower.wanted).toBe(false);
  });
});
