// What is recorded of ended processes, and how the processes they left behind are ended, on a fake clock.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { LeftBehind } from "../../../lib/local/left-behind.ts";
import type { Leftover } from "../../../lib/spawn/child.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { refusal } from "../../support/refusal.ts";

class FakeLeftover implements Leftover {
  readonly pid: number;
  readonly proof = undefined;
  readonly calls: string[] = [];
  looks = 0;
  /** The signal that ends what it left behind; undefined if it left nothing. */
  #endsWith: string | undefined;

  constructor(pid: number, endsWith?: string) {
    this.pid = pid;
    this.#endsWith = endsWith;
  }

  kill(signal: string, scope: string): void {
    this.calls.push(`${signal} ${scope}`);
    if (signal === "SIGTERM" && this.#endsWith === "EPERM") throw new ExecwireError("SIGNAL_FAILED", "EPERM");
    if (signal === this.#endsWith) this.#endsWith = undefined;
  }

  hasSurvivors(): boolean {
    this.looks += 1;
    return this.#endsWith !== undefined;
  }
}

function make() {
  const clock = new FakeClock();
  const empty: number[] = [];
  return { clock, empty, leftBehind: new LeftBehind(clock, (pid) => empty.push(pid)) };
}

describe("what ended processes left behind", () => {
  it("is searched for only after many ends, and then processes that left nothing are dropped", () => {
    const { leftBehind, empty } = make();
    const all = Array.from(
      { length: 3000 },
      (_, index) => new FakeLeftover(index + 1, index === 7 ? "SIGTERM" : undefined),
    );
    for (const each of all) leftBehind.add(each);
    expect(all.reduce((sum, { looks }) => sum + looks, 0)).toBeLessThan(all.length + 10);
    expect(leftBehind.hasSurvivors()).toBe(true);
    expect(empty).toEqual(all.map(({ pid }) => pid).filter((pid) => pid !== 8));
  });

  it("gets SIGTERM, and SIGKILL after the grace", async () => {
    const { clock, leftBehind } = make();
    const [kind, stubborn, nothing] = [
      new FakeLeftover(1, "SIGTERM"),
      new FakeLeftover(2, "SIGKILL"),
      new FakeLeftover(3),
    ];
    for (const each of [kind, stubborn, nothing]) leftBehind.add(each);
    const end = leftBehind.end(1000);
    expect([kind.calls, stubborn.calls, nothing.calls]).toEqual([
      ["SIGTERM tree", "SIGCONT tree"],
      ["SIGTERM tree", "SIGCONT tree"],
      [],
    ]);
    clock.advance(999);
    expect(stubborn.calls).not.toContain("SIGKILL tree");
    clock.advance(1);
    await end;
    expect([stubborn.calls.at(-1), clock.armed]).toEqual(["SIGKILL tree", 0]);
  });

  it("is nothing when every session is empty", async () => {
    const { clock, leftBehind } = make();
    const nothing = new FakeLeftover(1);
    leftBehind.add(nothing);
    await leftBehind.end(1000);
    expect([nothing.calls, clock.armed]).toEqual([[], 0]);
  });

  it("is dropped when another child gets the pid", async () => {
    const { leftBehind, empty } = make();
    const earlier = new FakeLeftover(1, "SIGTERM");
    leftBehind.add(earlier);
    leftBehind.onPidReused(1);
    await leftBehind.end(0);
    expect([earlier.calls, empty]).toEqual([[], []]);
  });

  it("is ended as far as possible if a part may not be signalled, which is reported", async () => {
    const { clock, leftBehind } = make();
    const [denied, other] = [new FakeLeftover(1, "EPERM"), new FakeLeftover(2, "SIGTERM")];
    leftBehind.add(denied);
    leftBehind.add(other);
    const end = refusal(leftBehind.end(100));
    clock.advance(100_000);
    expect(await end).toMatchObject({ code: "SIGNAL_FAILED" });
    expect(other.calls).toEqual(["SIGTERM tree"]);
  });
});
