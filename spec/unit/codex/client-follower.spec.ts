// How far a lossless reader may fall behind an exec-server that cannot be paused, since replies are pending.
import { describe, expect, it } from "@jest/globals";
import { CodexFollower } from "../../../lib/codex/client/codex-follower.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { exitOf } from "../log/log-model.ts";

const CHUNK = new Uint8Array(8 * 1024 * 1024);

describe("a follower of an exec-server", () => {
  it("drops a lossless reader that is 64 MiB behind, and keeps the others", () => {
    const pressure: boolean[] = [];
    const follower = new CodexFollower({
      retainedBytes: CHUNK.length,
      retainedEvents: 100,
      windowBytes: CHUNK.length,
      clock: new FakeClock(),
      read: () => undefined,
      isPaused: () => false,
      exitOf: ({ seq, exitCode }) => ({ type: "exited", seq, ...exitOf(exitCode ?? 0) }),
      onChange: () => undefined,
      onPressure: (full) => pressure.push(full),
    });
    follower.begin();
    const { log } = follower;
    let position = 0;
    const [slow, quick] = [log.hold(() => 0), log.hold(() => position)];
    for (let seq = 1; seq <= 8; seq += 1) {
      follower.push({ type: "output", seq, stream: "stdout", chunk: CHUNK });
      position = seq;
      quick.renew();
    }
    expect([slow.isLive, log.firstSeq, pressure]).toEqual([true, 1, [true]]);
    follower.push({ type: "output", seq: 9, stream: "stdout", chunk: CHUNK });
    expect([slow.isLive, quick.isLive, log.firstSeq, pressure]).toEqual([false, true, 9, [true, false]]);
  });
});
