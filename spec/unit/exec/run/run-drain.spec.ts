// How long a run waits for streams that other processes keep open after the exit, and what happens to these processes.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { nextTurn } from "../../../support/next-turn.ts";
import { RunHost, resultNow } from "./run-host.ts";

let host: RunHost;
beforeEach(() => {
  host = new RunHost();
});
afterEach(() => host.close());
const begin: RunHost["begin"] = (options, spec) => host.begin(options, spec);
const pass = (ms: number) => host.pass(ms);

describe("a run whose streams are held open after the exit", () => {
  it.each(["capped", "full"] as const)(
    "waits for 2 s of silence, and returns what it has read (%s)",
    async (capture) => {
      const { run, child } = await begin({ capture });
      child.output("hello");
      child.exit(0);
      await nextTurn();
      await pass(1_999);
      expect(await resultNow(run)).toBeUndefined();
      await pass(1);
      const result = await run.result;
      expect(result).toMatchObject({ exitCode: 0, drain: "idle", durationMs: 0 });
      expect(result.stdout.text).toBe("hello");
    },
  );

  it("waits again after each output", async () => {
    const { run, child } = await begin();
    child.exit(0);
    for (const text of ["a", "b", "c"]) {
      await pass(1_500);
      child.output(text);
      await nextTurn();
    }
    child.end();
    const result = await run.result;
    expect([result.stdout.text, result.drain]).toEqual(["abc", "eof"]);
  });

  it("waits no longer than 10 s, however much is printed", async () => {
    const { run, child } = await begin();
    child.exit(0);
    for (let second = 0; second < 10; second += 1) {
      expect(await resultNow(run)).toBeUndefined();
      child.output(".");
      await nextTurn();
      await pass(1_000);
    }
    const result = await run.result;
    expect([result.stdout.text, result.drain]).toEqual([".".repeat(10), "deadline"]);
  });

  it("spares the holders, whose process stays readable", async () => {
    const { run, child } = await begin();
    child.exit(0);
    await pass(2_000);
    await run.result;
    expect(child.calls).toEqual([]);
    expect((await run.process).info.state).toBe("exited");
    // Their output is still read and discarded, so that they are not blocked.
    child.output("x".repeat(2 * 1024 * 1024));
    expect(child.calls).toEqual([]);
  });

  it("kills the holders when it is asked to", async () => {
    const { run, child } = await begin({ leftBehind: "terminate", drainMs: 50 });
    child.exit(0);
    await pass(50);
    expect(await run.result).toMatchObject({ exitCode: 0, drain: "idle" });
    expect(child.calls).toContain("SIGKILL tree");
  });
});
