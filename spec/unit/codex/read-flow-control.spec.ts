// When lossless readers pause an exec-server, and when they must not.
import { beforeEach, describe, expect, it } from "@jest/globals";
import { ReadFlowControl } from "../../../lib/codex/client/read-flow-control.ts";
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

  constructor(flow: ReadFlowControl) {
    this.log = new ReplayLog({ pauseAtBytes: 100 }, { onPressure: (full) => flow.setPressure(this.log.holds, full) });
    this.hold = this.log.hold(() => this.position);
  }

  read(): void {
    this.position = this.log.headSeq;
    this.hold.renew();
  }
}

describe("flow control of reads from an exec-server", () => {
  let clock: FakeClock;
  let isPaused: boolean;
  let flow: ReadFlowControl;
  let one: Followed;
  let other: Followed;
  beforeEach(() => {
    clock = new FakeClock();
    isPaused = false;
    flow = new ReadFlowControl({
      leaseMs: 1_000,
      clock,
      setPaused: (paused) => {
        isPaused = paused;
      },
    });
    one = new Followed(flow);
    other = new Followed(flow);
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

  it("does not pause while a reply is pending, since a reader may wait for it", () => {
    print(one.log, "x".repeat(101));
    flow.isBusy = true;
    expect(isPaused).toBe(false);
    flow.isBusy = false;
    expect(isPaused).toBe(true);
  });

  it("drops a reader that does not renew its hold for a whole lease", () => {
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

  it("stops waiting for the reader of a process that is being terminated, until it has caught up", () => {
    print(one.log, "x".repeat(101));
    flow.ignore(one.log.holds);
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

  it("waits for no reader once it is disabled, and leaves no timer behind", () => {
    print(one.log, "x".repeat(101));
    flow.disable();
    expect([isPaused, clock.armed]).toEqual([false, 0]);
  });
});
