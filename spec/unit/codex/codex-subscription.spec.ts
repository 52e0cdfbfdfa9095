// How far a process may run ahead of a Codex client that connects, disconnects and reads.
import { describe, expect, it } from "@jest/globals";
import { CodexSubscription, type PushTarget } from "../../../lib/codex/server/codex-subscription.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { print } from "../../support/log-writing.ts";

/** A connection that counts what is pushed to it. */
function target(): PushTarget & { hasRoom: boolean; pushed: number; breaks: number } {
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

describe("a Codex subscription", () => {
  const make = () => {
    const log = new ReplayLog();
    return { log, subscription: new CodexSubscription("p", log, 100) };
  };

  it("holds the process at what was pushed, and after a resume at what was received until it goes on pushing", () => {
    const { log, subscription } = make();
    subscription.attach(target(), { resumed: false });
    for (const text of ["one", "two"]) print(log, text);
    expect(log.holds.floor()).toBe(2);
    subscription.received(1);
    subscription.detach();
    expect(log.holds.floor()).toBe(Number.POSITIVE_INFINITY);
    const second = target();
    subscription.attach(second, { resumed: true });
    print(log, "six");
    expect([log.holds.floor(), second.pushed]).toEqual([1, 0]);
    subscription.received(2);
    expect(log.holds.floor()).toBe(2);
    subscription.goLive();
    expect([log.holds.floor(), second.pushed]).toEqual([3, 1]);
  });

  it("holds nothing for a connection after another one has taken its place", () => {
    const { log, subscription } = make();
    const slow = target();
    slow.hasRoom = false;
    subscription.attach(slow, { resumed: false });
    print(log, "one");
    subscription.received(1);
    subscription.attach(target(), { resumed: true });
    subscription.goLive();
    expect([log.holds.floor(), slow.pushed]).toEqual([1, 0]);
  });

  it("closes the connection once if the next event is lost, and holds nothing any more", () => {
    const log = new ReplayLog({ retainedBytes: 3 });
    const subscription = new CodexSubscription("p", log, 3);
    for (const text of ["one", "two"]) print(log, text);
    const connection = target();
    subscription.attach(connection, { resumed: false });
    print(log, "six");
    expect([connection.breaks, connection.pushed, log.holds.floor()]).toEqual([1, 0, Number.POSITIVE_INFINITY]);
  });
});
