// SIGTERM, the grace, SIGKILL: on a fake clock.
import { describe, expect, it } from "@jest/globals";
import { Termination, type TerminationRequest } from "../../../lib/local/termination.ts";
import { FakeChild } from "../../support/fake-child.ts";
import { FakeClock } from "../../support/fake-clock.ts";

class Ending {
  readonly clock = new FakeClock();
  readonly child = new FakeChild(1, ["stdout"], false);
  readonly termination: Termination;

  constructor() {
    this.termination = new Termination(this.clock, () => this.termination.proceed(this.child));
  }

  begin(request: Partial<TerminationRequest> = {}): void {
    this.termination.begin(this.child, { reason: "terminate", graceMs: 100, scope: "group", ...request });
  }
}

describe("a termination of a process", () => {
  it("sends SIGTERM, wakes stopped processes, and kills after the grace", () => {
    const { clock, child, termination } = started(new Ending());
    expect(child.calls).toEqual(["SIGTERM group", "SIGCONT group"]);
    clock.advance(99);
    expect(child.calls).toEqual(["SIGTERM group", "SIGCONT group"]);
    clock.advance(1);
    expect(child.calls).toEqual(["SIGTERM group", "SIGCONT group", "SIGKILL group"]);
    clock.advance(1000);
    expect([child.calls.length, clock.armed, termination.reason]).toEqual([3, 0, "terminate"]);
  });

  it("kills at once without a grace", () => {
    const ending = new Ending();
    ending.begin({ graceMs: 0, scope: "tree" });
    expect([ending.child.calls, ending.clock.armed]).toEqual([["SIGKILL tree"], 0]);
  });

  it("is replaced by a later request, which does not change why it began", () => {
    const ending = new Ending();
    ending.begin({ reason: "timeout", scope: "tree" });
    ending.clock.advance(50);
    ending.begin({ graceMs: 10, scope: "session" });
    ending.clock.advance(10);
    const { calls } = ending.child;
    expect(calls).toEqual(["SIGTERM tree", "SIGCONT tree", "SIGTERM session", "SIGCONT session", "SIGKILL session"]);
    expect([ending.termination.reason, ending.clock.armed]).toEqual(["timeout", 0]);
  });

  it("is pending while a process that it must kill is left", () => {
    const ending = new Ending();
    ending.child.survivors = true;
    expect(ending.termination.isPending(ending.child)).toBe(false);
    ending.begin();
    expect(ending.termination.isPending(ending.child)).toBe(true);
    ending.child.survivors = false;
    expect(ending.termination.isPending(ending.child)).toBe(false);
  });

  it("does not wait for ever for a process that survives SIGKILL", () => {
    const { child, clock, termination } = started(new Ending());
    child.survivors = true;
    clock.advance(100);
    let looks = 0;
    while (termination.isPending(child) && looks < 1000) looks += 1;
    expect(looks).toBeLessThan(1000);
  });

  it("sends no more signals once cancelled", () => {
    const ending = started(new Ending());
    ending.termination.cancel();
    ending.clock.advance(1000);
    expect([ending.child.calls, ending.clock.armed]).toEqual([["SIGTERM group", "SIGCONT group"], 0]);
  });

  it("still kills after the grace if SIGTERM could not be sent to all processes", () => {
    const ending = new Ending();
    const { child } = ending;
    const kill = child.kill.bind(child);
    child.kill = (signal, scope) => {
      kill(signal, scope);
      if (signal === "SIGTERM") throw new Error("EPERM");
    };
    expect(() => ending.begin()).toThrow("EPERM");
    ending.clock.advance(100);
    expect(child.calls.at(-1)).toBe("SIGKILL group");
  });
});

function started(ending: Ending): Ending {
  ending.begin();
  return ending;
}
