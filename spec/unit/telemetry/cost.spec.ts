// The cost of metrics: nothing per chunk.
import { expect, it } from "@jest/globals";
import type { Meter } from "@opentelemetry/api";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { Metrics } from "../../support/metrics.ts";
import { nextTurn } from "../../support/next-turn.ts";

/** A meter that records each call of itself and its instruments. */
function spyOn(meter: Meter, calls: string[]): Meter {
  return spy(meter, (create, instrument) => {
    calls.push(create);
    return spy(instrument as object, (method, result) => {
      calls.push(method);
      return result;
    });
  });
}

function spy<T extends object>(target: T, onCall: (method: string, result: unknown) => unknown): T {
  return new Proxy(target, {
    get(_, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => onCall(String(name), value.apply(target, args));
    },
  });
}

it("calls no instrument for 10,000 chunks, their readers and their gaps", async () => {
  const metrics = new Metrics();
  const calls: string[] = [];
  const meter = spyOn(metrics.meter, calls);
  const host = new FakeHost({ meter, limits: { retainedEvents: 100, mergeBelowBytes: 0 } });
  const { child, process, events } = await host.start();
  expect(calls.filter((call) => call.startsWith("create"))).toHaveLength(7);
  calls.length = 0;
  for (let index = 0; index < 10_000; index += 1) child.output("chunk\n", index % 2 ? "stdout" : "stderr");
  await nextTurn();
  await process.read();
  expect([events.length, calls]).toEqual([10_000, []]);
  child.exit(0);
  child.end();
  expect(calls).toEqual(["record"]);
  expect(await metrics.numbers()).toMatchObject({
    "exec.process.io stdout": 30_000,
    "exec.process.io stderr": 30_000,
    "exec.log.gaps": 1,
  });
  await host.close();
  await metrics.close();
});
