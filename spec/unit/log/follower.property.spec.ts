// Followers compared with what was printed: for all orders of cuts, evictions, reads and leaves, each reader gets each event
// once or an exact gap.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { ProcessEvent } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { runs } from "../../support/fuzz.ts";
import { FollowingReader, Line, sizeOf } from "./follower-model.ts";
import { exitOf } from "./log-model.ts";

const CHUNK_BYTES = 8;
/** By then, a follower has acknowledged what was read. */
const ACK_MS = 5;

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ op: fc.constant("print" as const), size: fc.integer({ min: 1, max: 24 }) }) },
  { weight: 8, arbitrary: fc.record({ op: fc.constant("move" as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ op: fc.constant("read" as const), which: fc.nat(5), count: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("reader" as const), afterSeq: fc.nat(12), lossless: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("leave" as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("cut" as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("mend" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("exit" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("lapse" as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("wait" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const bounds = fc.record({
  logBytes: fc.integer({ min: 16, max: 100 }),
  followerBytes: fc.integer({ min: 16, max: 100 }),
  windowBytes: fc.integer({ min: CHUNK_BYTES, max: 60 }),
  delivery: fc.constantFrom("gap" as const, "lossless" as const),
});
type Bounds = typeof bounds extends fc.Arbitrary<infer T> ? T : never;

/** A log, a connection and readers. `paused`: the child has to wait. */
class World {
  readonly log: ReplayLog;
  readonly line: Line;
  readonly clock = new FakeClock();
  readonly readers: FollowingReader[] = [];
  readonly printed: ProcessEvent[] = [];
  #paused = false;
  #bytes = 0;

  constructor({ logBytes, followerBytes, windowBytes, delivery }: Bounds) {
    const onPressure = (full: boolean) => {
      this.#paused = full;
    };
    this.log = new ReplayLog({ retainedBytes: logBytes, chunkBytes: CHUNK_BYTES }, { onPressure });
    this.line = new Line(this.log, { delivery, retainedBytes: followerBytes, windowBytes, clock: this.clock });
    const record = () => {
      for (let seq = this.printed.length + 1; seq <= this.log.headSeq; seq += 1) {
        this.printed.push(this.log.next(seq - 1) as ProcessEvent);
      }
    };
    this.log.onAppend(record);
  }

  run(step: Step): void {
    const reader = "which" in step ? this.readers[step.which % Math.max(1, this.readers.length)] : undefined;
    switch (step.op) {
      case "print":
        if (!this.#paused)
          this.log.appendOutput(
            "stdout",
            Uint8Array.from({ length: step.size }, () => this.#bytes++ % 251),
          );
        return;
      case "move":
        this.line.step(step.count);
        return;
      case "read":
        reader?.read(step.count);
        return;
      case "reader":
        this.readers.push(new FollowingReader(this.line.follower.log, this.printed, step.afterSeq, step.lossless));
        return;
      case "leave":
        return reader?.leave();
      case "cut":
        return this.line.cut();
      case "mend":
        return this.line.mend();
      case "lapse":
        // No reader renewed its hold for a whole lease.
        this.log.holds.beginLease();
        return this.log.holds.endLease();
      case "wait":
        return this.clock.advance(ACK_MS);
      case "exit":
        return this.log.appendExited(exitOf(0));
    }
  }

  /** Bytes in this log that a reader at `position` has not read. */
  unread(position: number): number {
    const { headSeq } = this.line.follower.log;
    return this.printed.slice(position, headSeq).reduce((sum, event) => sum + sizeOf(event), 0);
  }

  /** Ends the process, restores the connection, and lets every reader read to the end. */
  finish(): void {
    this.line.mend();
    this.log.appendExited(exitOf(0));
    this.log.appendClosed();
    for (let moved = true; moved; ) {
      moved = this.line.step(1_000);
      for (const reader of this.readers) moved = reader.read(1_000) || moved;
      // A small step of a reader is acknowledged later.
      if (moved || this.clock.armed === 0) continue;
      this.clock.advance(ACK_MS);
      moved = true;
    }
    for (const reader of this.readers) {
      if (reader.open) expect(reader.position).toBeGreaterThanOrEqual(this.log.headSeq);
    }
  }
}

/** Each reader that stays gets the end. */
function checkExactness(drawn: Bounds, steps: readonly Step[]): void {
  const world = new World(drawn);
  for (const each of steps) world.run(each);
  world.finish();
}

/** Every reader is lossless, and one of them is there from the beginning. */
function checkLosslessness(drawn: Bounds, steps: readonly Step[]): void {
  const world = new World({ ...drawn, delivery: "lossless" });
  world.readers.push(new FollowingReader(world.line.follower.log, world.printed, 0, true));
  const first = world.readers[0] as FollowingReader;
  // Output printed before the log knows its reader is not kept for it.
  world.line.step(1);
  for (const each of steps) {
    world.run(each.op === "reader" ? { ...each, afterSeq: 0, lossless: true } : each);
    expect(world.unread(first.position)).toBeLessThan(drawn.windowBytes * 1.5 + CHUNK_BYTES + drawn.windowBytes / 4);
  }
  world.finish();
  // A reader that comes late may have lost evicted events, but none once it reads.
  expect(first.lost).toBe(0);
  expect(world.readers.filter(({ lostLater }) => lostLater > 0)).toEqual([]);
}

const narrow: Bounds = { logBytes: 16, followerBytes: 16, windowBytes: 8, delivery: "gap" };

describe("a follower", () => {
  it("gives every reader each event once, or the exact range it lost, through cuts and evictions", () => {
    fc.assert(fc.property(bounds, fc.array(step, { maxLength: 80 }), checkExactness), runs(1_000));
  });

  it("continues after a gap of unknown size, of which the source knows that it fills the window", () => {
    checkExactness(narrow, [
      { op: "print", size: 1 },
      { op: "reader", afterSeq: 0, lossless: false },
      { op: "move", count: 2 },
      { op: "reader", afterSeq: 0, lossless: true },
      { op: "print", size: 17 },
    ]);
  });

  it("continues for a reader that begins within a gap", () => {
    checkExactness(narrow, [
      { op: "reader", afterSeq: 1, lossless: true },
      { op: "print", size: 9 },
      { op: "exit" },
      { op: "print", size: 17 },
    ]);
  });

  it("gives a late lossless reader the exit between two ranges that were evicted before it came", () => {
    checkLosslessness({ ...narrow, windowBytes: 17 }, [
      { op: "exit" },
      { op: "print", size: 17 },
      { op: "move", count: 4 },
      { op: "read", which: 0, count: 2 },
      { op: "reader", afterSeq: 0, lossless: false },
    ]);
  });

  it("loses nothing for a lossless reader, and is never more than one and a half windows ahead of it, through cuts too", () => {
    const staying = step.filter(({ op }) => op !== "leave" && op !== "lapse");
    fc.assert(fc.property(bounds, fc.array(staying, { maxLength: 80 }), checkLosslessness), runs(500));
  });
});
