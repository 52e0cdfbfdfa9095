// What is kept in mind of ended processes, and how what they have left is ended, on a clock that stands still.
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
  /** The signal that ends it; undefined when it has left nothing. */
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

describe("what ended processes have left", () => {
  it("is not looked for at each end, only after many, and then what has left nothing is forgotten", () => {
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

  it("is asked to end, and killed after the grace", async () => {
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

  it("is forgotten when another child gets the pid", async () => {
    const { leftBehind, empty } = make();
    const earlier = new FakeLeftover(1, "SIGTERM");
    leftBehind.add(earlier);
    leftBehind.isReused(1);
    await leftBehind.end(0);
    expect([earlier.calls, empty]).toEqual([[], []]);
  });

  it("is ended as far as possible when a part may not be signalled, and that is reported", async () => {
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
