// What a lossless client may still be sent, by the position that it has acknowledged.
import { describe, expect, it } from "@jest/globals";
import { ReplayLog } from "../../../../lib/log/replay-log.ts";
import { AckedPosition } from "../../../../lib/server/sessions/acked-position.ts";
import { print } from "../../../support/log-writing.ts";

describe("a held position", () => {
  it("counts the bytes that follow it, a gap included, as its client does", () => {
    const log = new ReplayLog({ retainedBytes: 6, chunkBytes: 3 });
    for (const text of ["one", "two", "six"]) print(log, text);
    const position = new AckedPosition(log, 0);
    // A smaller count would let more than a window follow by the client's own count, and it would consider its reader dead.
    expect(position.bytesUpTo(3)).toBe(9);
    position.ack(2);
    expect(position.bytesUpTo(3)).toBe(3);
  });

  it("counts from the beginning after the log was restarted", () => {
    const log = new ReplayLog();
    for (const text of ["one", "two"]) print(log, text);
    const position = new AckedPosition(log, 2);
    log.restart();
    print(log, "one");
    expect(position.bytesUpTo(1)).toBe(3);
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
