// Tasks run one at a time.
import { expect, it } from "@jest/globals";
import { Mutex } from "../../lib/mutex.ts";

it("runs tasks in the order of the calls, each after the previous one has ended or failed", async () => {
  const mutex = new Mutex();
  const seen: string[] = [];
  const task = (name: string, fails = false) =>
    mutex.run(async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([task("a", true), task("b"), mutex.run(() => "c")]);
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
    "failed",
    "b",
    "c",
  ]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

it("is settled when all tasks so far are over, and not before", async () => {
  const mutex = new Mutex();
  let end = () => {};
  let isOver = false;
  const running = mutex.run(() => new Promise<void>((resolve) => (end = resolve))).then(() => (isOver = true));
  const settled = mutex.settled.then(() => isOver);
  await Promise.resolve();
  end();
  await running;
  expect(await settled).toBe(true);
});
