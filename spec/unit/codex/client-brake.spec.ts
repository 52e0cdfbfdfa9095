// How lossless readers hold an exec-server back, and when they must not.
import { beforeEach, describe, expect, it } from "@jest/globals";
import { Brake } from "../../../lib/codex/client/brake.ts";
import { UnreadBytes } from "../../../lib/codex/client/unread-bytes.ts";
import { FakeClock } from "../../support/fake-clock.ts";

describe("a brake", () => {
  const [one, other] = [{ name: "one" }, { name: "other" }];
  let clock: FakeClock;
  let isPaused: boolean;
  let lapsed: object[];
  let brake: Brake<object>;
  beforeEach(() => {
    clock = new FakeClock();
    isPaused = false;
    lapsed = [];
    brake = new Brake<object>({
      windowBytes: 100,
      leaseMs: 1_000,
      clock,
      setPaused: (paused) => {
        isPaused = paused;
      },
      onLapse: (key) => lapsed.push(key),
    });
  });

  it("pauses while any reader is more than a window behind", () => {
    brake.report(one, 100);
    expect(isPaused).toBe(false);
    brake.report(one, 101);
    brake.report(other, 500);
    expect(isPaused).toBe(true);
    brake.report(one, 0);
    expect(isPaused).toBe(true);
    brake.report(other, 100);
    expect([isPaused, clock.armed]).toEqual([false, 0]);
  });

  it("does not pause while an answer is awaited, for whoever reads may wait for it", () => {
    brake.report(one, 101);
    brake.isBusy = true;
    expect(isPaused).toBe(false);
    brake.isBusy = false;
    expect(isPaused).toBe(true);
  });

  it("takes a reader that shows no sign of life for gone when its lease is over", () => {
    brake.report(one, 101);
    clock.advance(999);
    brake.report(one, 101);
    clock.advance(999);
    expect([isPaused, lapsed]).toEqual([true, []]);
    clock.advance(1);
    expect([isPaused, lapsed]).toEqual([false, [one]]);
    brake.report(one, 200);
    expect(isPaused).toBe(false);
  });

  it("waits no longer for a process that is being ended, until its reader has caught up", () => {
    brake.report(one, 101);
    brake.release(one);
    brake.report(one, 300);
    expect([isPaused, lapsed]).toEqual([false, []]);
    brake.report(one, 100);
    brake.report(one, 101);
    expect(isPaused).toBe(true);
  });

  it("waits for nobody once it is off, and leaves no timer behind", () => {
    brake.report(one, 101);
    brake.off();
    expect([isPaused, clock.armed]).toEqual([false, 0]);
  });
});

describe("unread bytes", () => {
  it("are those after the acknowledged seq", () => {
    const unread = new UnreadBytes();
    for (let seq = 1; seq <= 5_000; seq += 1) unread.add(seq, seq);
    unread.acknowledge(4_998);
    expect(unread.total).toBe(9_999);
    unread.acknowledge(3);
    unread.add(5_001, 1);
    unread.acknowledge(5_000);
    expect(unread.total).toBe(1);
  });
});
