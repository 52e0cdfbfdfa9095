// Changes of state for one connection: while it has no room, only the latest of each process is kept.
import { describe, expect, it } from "@jest/globals";
import { ChangeSubscription } from "../../../../lib/server/sending/change-subscription.ts";
import type { Outbox } from "../../../../lib/server/sending/outbox.ts";
import { decode, limits, type ProcessInfo, type ProcessState } from "../../../../protocol/index.ts";

function make() {
  const sent: string[] = [];
  const outbox = {
    hasRoom: true,
    push(frame: Uint8Array) {
      const { process } = decode(frame) as { process: ProcessInfo };
      sent.push(`${process.incarnation} ${process.state}`);
    },
  };
  return { subscription: new ChangeSubscription(outbox as unknown as Outbox, limits.frameBytes), outbox, sent };
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

describe("a subscription of changes", () => {
  it("sends nothing before the client subscribed", () => {
    const { subscription, sent } = make();
    subscription.add(info("a", "running"));
    subscription.open();
    subscription.pump();
    expect(sent).toEqual([]);
  });

  it("sends every change while there is room", () => {
    const { subscription, sent } = make();
    subscription.open();
    for (const state of ["starting", "running", "exited"] as const) subscription.add(info("a", state));
    expect(sent).toEqual(["a starting", "a running", "a exited"]);
  });

  it("keeps the latest of each process while there is none, in the order in which they began to wait", () => {
    const { subscription, outbox, sent } = make();
    subscription.open();
    outbox.hasRoom = false;
    for (const [name, state] of [
      ["a", "running"],
      ["b", "running"],
      ["a", "exited"],
      ["a", "closed"],
    ] as const) {
      subscription.add(info(name, state));
    }
    expect(sent).toEqual([]);
    outbox.hasRoom = true;
    subscription.pump();
    subscription.pump();
    expect(sent).toEqual(["a closed", "b running"]);
  });
});
