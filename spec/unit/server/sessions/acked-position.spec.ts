// What a lossless client may still be sent, by the position that it has acknowledged.
import { describe, expect, it } from "@jest/globals";
import { ReplayLog } from "../../../../lib/log/replay-log.ts";
import { AckedPosition } from "../../../../lib/server/sessions/acked-position.ts";
import { print } from "../../../support/log-writing.ts";

describe("an acknowledged position", () => {
  it("counts the bytes that follow it", () => {
    const log = new ReplayLog();
    for (const text of ["one", "two", "six"]) print(log, text);
    const position = new AckedPosition(log, 1);
    expect([1, 2, 3].map((seq) => position.bytesUpTo(seq))).toEqual([0, 3, 6]);
    position.ack(2);
    expect([2, 3].map((seq) => position.bytesUpTo(seq))).toEqual([0, 3]);
  });

  it("closes the window until the client has read the gap of what was evicted before it was held", () => {
    const log = new ReplayLog({ retainedBytes: 6, chunkBytes: 3 });
    for (const text of ["one", "two", "six", "ten"]) print(log, text);
    const position = new AckedPosition(log, 1);
    // The client may have received the second event before it was evicted, or not.
    expect([1, 2, 4].map((seq) => position.bytesUpTo(seq))).toEqual([0, Infinity, Infinity]);
    position.ack(2);
    expect(position.bytesUpTo(4)).toBe(6);
  });

  it("counts what follows a gap of unknown size, so that the client of a relay is sent no more than its window", () => {
    const log = new ReplayLog();
    log.accept({ type: "gap", firstSeq: 1, lastSeq: 4 });
    for (const text of ["one", "two"]) print(log, text);
    const position = new AckedPosition(log, 0);
    expect([4, 5, 6].map((seq) => position.bytesUpTo(seq))).toEqual([0, 3, 6]);
  });

  it("counts on once a restarted log passes it again", () => {
    const log = new ReplayLog();
    for (const text of ["one", "two"]) print(log, text);
    const position = new AckedPosition(log, 2);
    log.restart();
    for (const text of ["one", "two", "six"]) print(log, text);
    expect([2, 3].map((seq) => position.bytesUpTo(seq))).toEqual([0, 3]);
  });

  it("limits nothing once it is not renewed in time", () => {
    const log = new ReplayLog();
    const position = new AckedPosition(log, 0);
    print(log, "one");
    log.holds.beginLease();
    log.holds.endLease();
    expect([position.isLive, position.bytesUpTo(1)]).toEqual([false, 0]);
  });
});
