// A process shared by its viewers: one frame for all of them.
import { describe, expect, it } from "@jest/globals";
import type { Process } from "../../../lib/process/process.ts";
import { SharedProcess } from "../../../lib/server/shared-process.ts";
import { decode, encodeEvent, type OutputEvent } from "../../../protocol/index.ts";

function event(seq: number): OutputEvent {
  return Object.freeze({ type: "output", seq, stream: "stdout", chunk: Buffer.from(`event ${seq}`) });
}

/** A shared process with some viewers, of a process whose newest event is `headSeq`. */
function sharedProcess(viewers: number, headSeq: number): SharedProcess {
  const made = new SharedProcess(7, { log: { headSeq } } as Process);
  made.viewers = viewers;
  return made;
}

describe("a shared process", () => {
  it("gives all viewers the very same frame", () => {
    const shared = sharedProcess(3, 40);
    const events = Array.from({ length: 40 }, (_, index) => event(index + 1));
    const frames = events.map((each) => shared.frameOf(each));
    for (let viewer = 0; viewer < 3; viewer += 1) {
      for (const [index, each] of events.entries()) expect(shared.frameOf(each)).toBe(frames[index]);
    }
    expect(decode(frames[0] as Uint8Array)).toEqual({
      type: "event",
      channel: 7,
      event: { type: "output", seq: 1, stream: "stdout", chunk: Buffer.from("event 1") },
    });
  });

  it("keeps the frames of the live viewers while another one catches up", () => {
    const shared = sharedProcess(3, 1064);
    const live = Array.from({ length: 64 }, (_, index) => event(1001 + index));
    const frames = live.map((each) => shared.frameOf(each));
    for (let seq = 1; seq <= 1000; seq += 1) expect(shared.frameOf(event(seq))).toEqual(encodeEvent(7, event(seq)));
    expect(live.map((each) => shared.frameOf(each))).toEqual(frames);
    for (const [index, each] of live.entries()) expect(shared.frameOf(each)).toBe(frames[index]);
  });

  it("never mixes up events that share a place", () => {
    const shared = sharedProcess(2, 129);
    for (const seq of [1, 65, 129, 1, 65, 129, 64, 128, 64]) {
      expect(decode(shared.frameOf(event(seq)))).toMatchObject({ event: { seq, chunk: Buffer.from(`event ${seq}`) } });
    }
  });

  it("keeps no frame for a single viewer", () => {
    const alone = sharedProcess(1, 1);
    expect(alone.frameOf(event(1))).not.toBe(alone.frameOf(event(1)));
  });

  it("keeps 256 KiB of frames at most, however large they are", () => {
    const shared = sharedProcess(2, 64);
    const large = Array.from({ length: 64 }, (_, index) => ({ ...event(index + 1), chunk: new Uint8Array(65_536) }));
    const frames = large.map((each) => shared.frameOf(each));
    const kept = large.filter((each, index) => shared.frameOf(each) === frames[index]);
    expect(kept.length).toBeLessThanOrEqual(4);
  });
});
