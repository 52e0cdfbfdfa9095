// How far a process may run ahead of a Codex client that connects, disconnects and reads.
import { describe, expect, it } from "@jest/globals";
import { Feed, type FeedTarget } from "../../../lib/codex/server/feed.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { print } from "../../support/log-writing.ts";

/** A connection that counts its notifications. */
function target(): FeedTarget & { hasRoom: boolean; pushed: number; breaks: number } {
  return {
    hasRoom: true,
    pushed: 0,
    breaks: 0,
    allocate: (bytes) => Buffer.alloc(bytes),
    push() {
      this.pushed += 1;
    },
    broken() {
      this.breaks += 1;
    },
  };
}

describe("the subscription of a Codex client", () => {
  const make = () => {
    const log = new ReplayLog();
    return { log, feed: new Feed("p", log, 100) };
  };

  it("holds the log at what was pushed, and after a resume at what was received until it pushes again", () => {
    const { log, feed } = make();
    feed.attach(target(), { resumed: false });
    for (const text of ["one", "two"]) print(log, text);
    expect(log.holds.floor()).toBe(2);
    feed.received(1);
    feed.detach();
    expect(log.holds.floor()).toBe(Number.POSITIVE_INFINITY);
    const second = target();
    feed.attach(second, { resumed: true });
    print(log, "six");
    expect([log.holds.floor(), second.pushed]).toEqual([1, 0]);
    feed.received(2);
    expect(log.holds.floor()).toBe(2);
    feed.goLive();
    expect([log.holds.floor(), second.pushed]).toEqual([3, 1]);
  });

  it("holds nothing for a superseded connection", () => {
    const { log, feed } = make();
    const slow = target();
    slow.hasRoom = false;
    feed.attach(slow, { resumed: false });
    print(log, "one");
    feed.received(1);
    feed.attach(target(), { resumed: true });
    feed.goLive();
    expect([log.holds.floor(), slow.pushed]).toEqual([1, 0]);
  });

  it("closes the connection once if the next event is lost, and holds nothing any more", () => {
    const log = new ReplayLog({ retainedBytes: 3 });
    const feed = new Feed("p", log, 3);
    for (const text of ["one", "two"]) print(log, text);
    const connection = target();
    feed.attach(connection, { resumed: false });
    print(log, "six");
    expect([connection.breaks, connection.pushed, log.holds.floor()]).toEqual([1, 0, Number.POSITIVE_INFINITY]);
  });
});
