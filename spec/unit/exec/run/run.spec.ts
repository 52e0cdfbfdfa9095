// A run from its call to its result, with its live chunks.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { RunResult } from "../../../../lib/exec/run/result.ts";
import { type Run, startRun } from "../../../../lib/exec/run/run.ts";
import { nextTurn } from "../../../support/next-turn.ts";
import { refusal } from "../../../support/refusal.ts";
import { RunHost, resultNow } from "./run-host.ts";

let host: RunHost;
beforeEach(() => {
  host = new RunHost();
});
afterEach(() => host.close());
const begin: RunHost["begin"] = (options, spec) => host.begin(options, spec);
const pass = (ms: number) => host.pass(ms);

describe("a run", () => {
  it("has its result when the streams end, with the time until the exit", async () => {
    const { run, child } = await begin();
    child.output("out\n");
    await pass(70);
    child.exit(0);
    await pass(30);
    expect(await resultNow(run)).toBeUndefined();
    child.end();
    const { stdout, ...result } = (await resultNow(run)) as RunResult;
    expect(stdout.text).toBe("out\n");
    expect(result).toMatchObject({ exitCode: 0, signal: null, durationMs: 70, drain: "eof", timedOut: false, gaps: 0 });
    expect(child.calls).not.toContain("SIGKILL tree");
  });

  it("leaves no timer behind when it is over", async () => {
    const before = host.clock.armed;
    const { run, child } = await begin({ timeoutMs: 1000 });
    child.exit(0);
    child.end();
    await run.result;
    // The closed process itself is retained for a while.
    expect(host.clock.armed).toBe(before + 1);
  });

  it.each([
    ["SIGKILL", 137],
    ["SIGTERM", 143],
    ["SIGSYS", 159],
    ["SIGRT3", 163],
    ["SIGNEW", 128],
  ])("reports %s as a shell does, and as the signal itself", async (signal, exitCode) => {
    const { run, child } = await begin();
    child.exit(signal);
    child.end();
    const result = await run.result;
    expect(result).toMatchObject({ exitCode, signal, exited: { exitCode: null, signal, reason: "signal" } });
  });

  it("rejects if its end will never be known, without an unhandled rejection elsewhere", async () => {
    const { run } = await begin({ timeoutMs: null });
    await host.close();
    expect(await refusal(run.result)).toEqual({ code: "CLOSED", data: {} });
  });

  it("reports the single stream of a terminal as stdout", async () => {
    const { run, child } = await begin({}, { tty: true });
    child.output("screen");
    child.exit(0);
    child.end();
    const { stdout, stderr, aggregated } = await run.result;
    expect([stdout.text, stderr.text, aggregated.text]).toEqual(["screen", "", "screen"]);
  });

  it("keeps the beginning and the end of each stream, and says in the text how much is omitted", async () => {
    const { run, child } = await begin({ capBytes: 6 });
    child.output("abcdefghij");
    child.output("0123456789", "stderr");
    await pass(1);
    child.exit(0);
    child.end();
    const { stdout, stderr, aggregated } = await run.result;
    expect([stdout, stderr, aggregated].map(({ text }) => text)).toEqual([
      "abc\n[... 4 bytes omitted ...]\nhij",
      "012\n[... 4 bytes omitted ...]\n789",
      "a\n[... 8 bytes omitted ...]\nj01\n[... 6 bytes omitted ...]\n89",
    ]);
    expect(aggregated).toMatchObject({ totalBytes: 20, omittedBytes: 14 });
  });

  it.each([
    ["graceMs", { graceMs: -1 }],
    ["timeoutMs", { timeoutMs: -1 }],
    ["timeoutMs", { timeoutMs: Number.POSITIVE_INFINITY }],
    ["drainMs", { drainMs: 0.5 }],
    ["drainDeadlineMs", { drainDeadlineMs: 2 ** 31 }],
    ["capBytes", { capBytes: Number.NaN }],
    ["capture", { capture: "half" as "full" }],
    ["leftBehind", { leftBehind: "kill" as "keep" }],
    ["stdin", { stdin: 5 as unknown as string }],
  ])("refuses an invalid %s before it starts anything", async (field, options) => {
    const run = startRun(host.supervisor, { argv: ["/fake/program"] }, { clock: host.clock, ...options });
    expect(await refusal(run.result)).toEqual({ code: "INVALID_PARAMS", data: { field } });
    expect(await refusal(run.process)).toEqual({ code: "INVALID_PARAMS", data: { field } });
    expect(host.spawner.launches).toEqual([]);
  });
});

describe("the live chunks of a run", () => {
  const collect = ({ chunks$ }: Run) => {
    const seen: string[] = [];
    chunks$.subscribe({
      next: ({ stream, chunk }) => seen.push(`${stream}: ${Buffer.from(chunk)}`),
      complete: () => seen.push("complete"),
    });
    return seen;
  };

  it("arrive as they are printed, and complete with the result", async () => {
    const { run, child } = await begin();
    const seen = collect(run);
    child.output("one");
    child.output("two", "stderr");
    await pass(1);
    expect(seen).toEqual(["stdout: one", "stderr: two"]);
    child.exit(0);
    child.end();
    await run.result;
    expect(seen.at(-1)).toBe("complete");
  });

  it("stop after 10,000 of a stream, while its output is still captured", async () => {
    const { run, child } = await begin();
    const seen = collect(run);
    for (let index = 0; index < 10_010; index += 1) {
      child.output(".");
      await pass(1);
    }
    child.output("!", "stderr");
    await pass(1);
    expect(seen.length).toBe(10_001);
    expect(seen.at(-1)).toBe("stderr: !");
    child.exit(0);
    child.end();
    expect((await run.result).stdout.totalBytes).toBe(10_010);
  });

  it("reach other subscribers, and the result its caller, if a subscriber throws", async () => {
    const { run, child } = await begin();
    run.chunks$.subscribe(() => {
      throw new Error("of a subscriber");
    });
    const seen = collect(run);
    child.output("one");
    child.exit(0);
    child.end();
    expect((await run.result).stdout.text).toBe("one");
    expect(seen).toEqual(["stdout: one", "complete"]);
    expect(host.errors).toEqual([new Error("of a subscriber")]);
  });

  it("complete if the start is refused", async () => {
    const run = startRun(host.supervisor, { argv: [] });
    const seen = collect(run);
    expect(await refusal(run.result)).toEqual({ code: "INVALID_PARAMS", data: { field: "argv" } });
    expect(seen).toEqual(["complete"]);
  });
});

describe("the stdin of a run", () => {
  it("is written completely and then closed", async () => {
    const { run, child } = await begin({ stdin: "input" });
    expect(child.stdin?.received).toEqual(["input"]);
    child.stdin?.take();
    await nextTurn();
    expect(child.stdin?.received).toEqual(["input", "EOF"]);
    child.exit(0);
    child.end();
    await run.result;
  });

  it("does not delay the end of a child that does not read it", async () => {
    const { run, child } = await begin({ stdin: new Uint8Array(20 * 1024 * 1024) });
    child.exit(0);
    child.end();
    expect((await run.result).exitCode).toBe(0);
  });

  it("is not piped without input, unless the spec requests it", async () => {
    await begin();
    await begin({}, { pipeStdin: true });
    expect(host.spawner.launches.map(({ pipeStdin }) => pipeStdin)).toEqual([false, true]);
  });
});
