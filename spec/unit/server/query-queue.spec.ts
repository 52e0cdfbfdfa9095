// Expensive queries of viewers: one at a time, connections in turn, one query for all requests that came before it began.
import { describe, expect, it } from "@jest/globals";
import { PendingCalls } from "../../../lib/server/pending-calls.ts";
import { QueryQueue } from "../../../lib/server/query-queue.ts";
import { nextTurn } from "../../support/next-turn.ts";

function make() {
  const queue = new QueryQueue(nextTurn);
  const begun: string[] = [];
  const open: (() => void)[] = [];
  const ask = (requester: { isOver: boolean }, key: string) =>
    queue.run(
      requester,
      key,
      () =>
        new Promise<string>((resolve) => {
          begun.push(key);
          open.push(() => resolve(`${key} ${begun.length}`));
        }),
    );
  const finish = async () => {
    open.shift()?.();
    await nextTurn();
    await nextTurn();
  };
  return { ask, begun, finish };
}

describe("expensive queries of viewers", () => {
  it("are shared by all requests for the same before they begin, and done again for later ones", async () => {
    const { ask, begun, finish } = make();
    const viewers = Array.from({ length: 50 }, () => ({ isOver: false }));
    const first = ask(viewers[0] as { isOver: boolean }, "a");
    const later = viewers.flatMap((viewer) => Array.from({ length: 100 }, () => ask(viewer, "a")));
    expect(begun).toEqual(["a"]);
    await finish();
    expect(await first).toBe("a 1");
    await finish();
    expect(new Set(await Promise.all(later))).toEqual(new Set(["a 2"]));
    expect(begun).toEqual(["a", "a"]);
  });

  it("serve connections in turn: one with many requests does not delay another", async () => {
    const { ask, begun, finish } = make();
    const [greedy, modest] = [{ isOver: false }, { isOver: false }];
    for (const key of ["a", "b", "c", "d"]) void ask(greedy, key);
    void ask(modest, "z");
    for (let count = 0; count < 5; count += 1) await finish();
    expect(begun.indexOf("z")).toBeLessThanOrEqual(2);
    expect(begun.toSorted()).toEqual(["a", "b", "c", "d", "z"]);
  });

  it("are not done for closed connections", async () => {
    const { ask, begun, finish } = make();
    const gone = { isOver: false };
    void ask(gone, "a");
    const cancelled = ask(gone, "b");
    gone.isOver = true;
    await finish();
    await expect(cancelled).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(begun).toEqual(["a"]);
  });

  it("are followed by a pause that grows with their duration", async () => {
    const rests: number[] = [];
    const queue = new QueryQueue(async (queryMs) => void rests.push(queryMs));
    const viewer = { isOver: false };
    const busy = (ms: number) => async () => {
      const end = performance.now() + ms;
      while (performance.now() < end) await nextTurn();
    };
    await Promise.all([queue.run(viewer, "a", busy(20)), queue.run(viewer, "b", busy(0))]);
    await nextTurn();
    expect(rests.length).toBe(2);
    expect(rests[0]).toBeGreaterThanOrEqual(20);
    expect(rests[1]).toBeLessThan(rests[0] as number);
  });

  it("go on after one that failed", async () => {
    const queue = new QueryQueue();
    const viewer = { isOver: false };
    const failed = queue.run(viewer, "a", () => Promise.reject(new Error("no /proc")));
    const next = queue.run(viewer, "b", async () => "fine");
    await expect(failed).rejects.toThrow("no /proc");
    expect(await next).toBe("fine");
  });
});

describe("calls that end with their connection", () => {
  it("have a signal each, which is aborted with the reason, also for later calls", async () => {
    const calls = new PendingCalls();
    const signals: AbortSignal[] = [];
    const wait = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const running = [calls.run(wait), calls.run(wait)];
    calls.end(new Error("gone"));
    const outcomes = await Promise.allSettled([...running, calls.run(wait)]);
    expect(outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
      "gone",
      "gone",
      "gone",
    ]);
    expect(new Set(signals).size).toBe(3);
  });
});
