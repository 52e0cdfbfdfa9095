// Long work in slices: all of it is done, and other work gets its turn.
import { describe, expect, it } from "@jest/globals";
import { finish, finishInSlices } from "../../../../lib/spawn/proc/slices.ts";

function* count(to: number): Generator<void, number> {
  let counted = 0;
  for (; counted < to; counted += 1) yield;
  return counted;
}

/** Each step takes a millisecond. */
function* work(steps: number): Generator<void, string> {
  for (let step = 0; step < steps; step += 1) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    yield;
  }
  return "done";
}

describe("work in slices", () => {
  it("has the same outcome at once and in slices", async () => {
    expect([finish(count(1000)), await finishInSlices(count(1000))]).toEqual([1000, 1000]);
  });

  it("lets other work run every few milliseconds", async () => {
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    expect(await finishInSlices(work(50))).toBe("done");
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(8);
  });

  it("passes on what the work throws", async () => {
    // biome-ignore lint/correctness/useYield: it throws before it could
    function* broken(): Generator<void, void> {
      throw new Error("broken");
    }
    await expect(finishInSlices(broken())).rejects.toThrow("broken");
  });
});
