// Changes of state for one connection: while it has no room, only the latest of each process is kept.
import { describe, expect, it } from "@jest/globals";
import { ChangeFeed } from "../../../lib/server/change-feed.ts";
import type { Outbox } from "../../../lib/server/outbox.ts";
import { decode, limits, type ProcessInfo, type ProcessState } from "../../../protocol/index.ts";

function make() {
  const sent: string[] = [];
  const outbox = {
    hasRoom: true,
    push(frame: Uint8Array) {
      const { process } = decode(frame) as { process: ProcessInfo };
      sent.push(`${process.incarnation} ${process.state}`);
    },
  };
  return { feed: new ChangeFeed(outbox as unknown as Outbox, limits.frameBytes), outbox, sent };
}

function info(incarnation: string, state: ProcessState): ProcessInfo {
  return {
    processId: incarnation,
    incarnation,
    state,
    argv: ["x"],
    cwd: "/",
    tty: false,
    stdin: false,
    startedAt: 0,
    exitCode: null,
    signal: null,
    sandbox: "none",
    labels: {},
  };
}

describe("a feed of changes", () => {
  it("sends nothing before a subscription", () => {
    const { feed, sent } = make();
    feed.add(info("a", "running"));
    feed.open();
    feed.pump();
    expect(sent).toEqual([]);
  });

  it("sends every change while there is room", () => {
    const { feed, sent } = make();
    feed.open();
    for (const state of ["starting", "running", "exited"] as const) feed.add(info("a", state));
    expect(sent).toEqual(["a starting", "a running", "a exited"]);
  });

  it("keeps the latest change of each process while there is no room, in the order in which they began to wait", () => {
    const { feed, outbox, sent } = make();
    feed.open();
    outbox.hasRoom = false;
    for (const [name, state] of [
      ["a", "running"],
      ["b", "running"],
      ["a", "exited"],
      ["a", "closed"],
    ] as const) {
      feed.add(info(name, state));
    }
    expect(sent).toEqual([]);
    outbox.hasRoom = true;
    feed.pump();
    feed.pump();
    expect(sent).toEqual(["a closed", "b running"]);
  });
});
