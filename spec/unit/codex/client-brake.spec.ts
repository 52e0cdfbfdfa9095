// How lossless readers hold an exec-server back, and when they must not.
import { beforeEach, describe, expect, it } from "@jest/globals";
import { Brake } from "../../../lib/codex/client/brake.ts";
import { ExecwireError } from "../../../lib/errors.ts";
import type { Hold } from "../../../lib/log/log-view.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { print } from "../../support/log-writing.ts";

/** A log with one lossless reader. */
class Followed {
  readonly log: ReplayLog;
  readonly hold: Hold;
  position = 0;

  constructor(brake: Brake) {
    this.log = new ReplayLog({ pauseAtBytes: 100 }, { onPressure: (full) => brake.press(this.log.holds, full) });
    this.hold = this.log.hold(() => this.position);
  }

  read(): void {
    this.position = this.log.headSeq;
    this.hold.renew();
  }
}

describe("a brake", () => {
  let clock: FakeClock;
  let isPaused: boolean;
  let brake: Brake;
  let one: Followed;
  let other: Followed;
  beforeEach(() => {
    clock = new FakeClock();
    isPaused = false;
    brake = new Brake({
      leaseMs: 1_000,
      clock,
      setPaused: (paused) => {
        isPaused = paused;
      },
    });
    one = new Followed(brake);
    other = new Followed(brake);
  });

  it("pauses while any reader is more than a window behind", () => {
    print(one.log, "x".repeat(100));
    expect(isPaused).toBe(false);
    print(one.log, "x");
    print(other.log, "x".repeat(500));
    expect(isPaused).toBe(true);
    one.read();
    expect(isPaused).toBe(true);
    other.hold.release();
    expect([isPaused, clock.armed]).toEqual([false, 0]);
  });

  it("does not pause while an answer is awaited, for a reader may wait for it", () => {
    print(one.log, "x".repeat(101));
    brake.isBusy = true;
    expect(isPaused).toBe(false);
    brake.isBusy = false;
    expect(isPaused).toBe(true);
  });

  it("drops a reader that shows no sign of life for a whole lease", () => {
    print(one.log, "x".repeat(101));
    clock.advance(999);
    one.hold.renew();
    clock.advance(999);
    expect([isPaused, one.hold.isLive]).toEqual([true, true]);
    clock.advance(2);
    expect([isPaused, one.hold.isLive, clock.armed]).toEqual([false, false, 0]);
    print(one.log, "x".repeat(200));
    expect(isPaused).toBe(false);
  });

  it("waits no longer for a process that is being ended, until its reader has caught up", () => {
    print(one.log, "x".repeat(101));
    brake.release(one.log.holds);
    print(one.log, "x".repeat(300));
    expect([isPaused, one.hold.isLive, clock.armed]).toEqual([false, true, 0]);
    one.read();
    print(one.log, "x".repeat(101));
    expect(isPaused).toBe(true);
  });

  it.each([
    ["has failed", (log: ReplayLog) => log.fail(new ExecwireError("INTERNAL", "gone"))],
    ["is closed", (log: ReplayLog) => log.appendClosed()],
  ])("does not wait for the reader of a log that %s", (_what, end) => {
    print(one.log, "x".repeat(101));
    end(one.log);
    expect([isPaused, one.hold.isLive, clock.armed]).toEqual([false, true, 0]);
  });

  it("waits for no reader once it is off, and leaves no timer behind", () => {
    print(one.log, "x".repeat(101));
    brake.off();
    expect([isPaused, clock.armed]).toEqual([false, 0]);
  });
});
