// Long work of many clients: one piece a turn of the event loop, and the clients take turns.
import { describe, expect, it } from "@jest/globals";
import { FairQueue } from "../../../lib/server/fair-queue.ts";

describe("a fair queue", () => {
  it("does one thing a turn, and who asks once waits for one thing of each other, however much they asked for", async () => {
    const queue = new FairQueue();
    const done: string[] = [];
    let turn = 0;
    const turns = new Set<number>();
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const [greedy, patient] = [{}, {}];
    const work = (client: object, name: string) =>
      queue.run(client, async () => {
        done.push(name);
        turns.add(turn);
      });
    const all = Array.from({ length: 100 }, (_, index) => work(greedy, `greedy ${index}`));
    all.push(work(patient, "patient"));
    await Promise.all(all);
    isOver = true;
    expect(done.length).toBe(101);
    expect(turns.size).toBe(101);
    // The first was begun before there was anybody else.
    expect(done.indexOf("patient")).toBeLessThanOrEqual(2);
    expect(done.filter((name) => name !== "patient")).toEqual(
      Array.from({ length: 100 }, (_, index) => `greedy ${index}`),
    );
  });

  it("goes on after what fails, and answers each with its own outcome", async () => {
    const queue = new FairQueue();
    const failing = queue.run({}, () => Promise.reject(new Error("no")));
    const next = queue.run({}, async () => "yes");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("yes");
    expect(await queue.run({}, async () => "again")).toBe("again");
  });
});
