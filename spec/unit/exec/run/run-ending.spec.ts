// How a run ends before its command does: by timeout and by abort, however the process or its host behaves.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type Run, startRun } from "../../../../lib/exec/run/run.ts";
import type { Backend } from "../../../../lib/process/backend.ts";
import type { FakeChild } from "../../../support/fake-child.ts";
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

describe("a run that times out", () => {
  it("kills the tree at once after 10 s by default", async () => {
    const { run, child } = await begin();
    await pass(9_999);
    expect(child.calls).toEqual([]);
    await pass(1);
    expect(child.calls).toEqual(["SIGKILL tree"]);
    child.exit("SIGKILL");
    child.end();
    expect(await run.result).toMatchObject({
      exitCode: 124,
      timedOut: true,
      aborted: false,
      signal: "SIGKILL",
      durationMs: 10_000,
      exited: { reason: "terminate", result: "terminated" },
    });
  });

  it("has code 124 even if the child catches the signal and exits with 0", async () => {
    const { run, child } = await begin({ timeoutMs: 500, graceMs: 2_000 });
    await pass(500);
    expect(child.calls).toEqual(["SIGTERM tree", "SIGCONT tree"]);
    child.output("bye\n");
    child.exit(0);
    child.end();
    const result = await run.result;
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, signal: null, exited: { exitCode: 0 } });
    expect(result.stdout.text).toBe("bye\n");
  });

  it("may have a timeout of 0 ms: it is ended as soon as it runs", async () => {
    const { run, child } = await begin({ timeoutMs: 0 });
    await pass(0);
    expect(child.calls).toEqual(["SIGKILL tree"]);
    child.exit("SIGKILL");
    child.end();
    expect(await run.result).toMatchObject({ exitCode: 124, timedOut: true });
  });

  it("may have its timeout in the spec, too", async () => {
    const { run, child } = await begin({ timeoutMs: null }, { timeoutMs: 300 });
    await pass(300);
    child.exit("SIGTERM");
    child.end();
    expect(await run.result).toMatchObject({ exitCode: 124, timedOut: true, exited: { reason: "timeout" } });
  });

  it.each([
    ["null", { timeoutMs: null }],
    ["a full capture", { capture: "full" } as const],
  ])("never times out with %s", async (_what, options) => {
    const { run, child } = await begin(options);
    await pass(10_000_000);
    expect(child.calls).toEqual([]);
    child.exit(0);
    child.end();
    expect(await run.result).toMatchObject({ exitCode: 0, timedOut: false });
  });

  it("may be one with a full capture and a timeout", async () => {
    const { child } = await begin({ capture: "full", timeoutMs: 100 });
    await pass(100);
    expect(child.calls).toEqual(["SIGKILL tree"]);
  });

  it("does not time out once the exit is known, even if a stream is open", async () => {
    const { run, child } = await begin({ timeoutMs: 1_000 });
    await pass(999);
    child.exit(0);
    await pass(2_000);
    expect(await run.result).toMatchObject({ exitCode: 0, timedOut: false, drain: "idle" });
  });

  it("gets its result even if no signal ends the child", async () => {
    const { run, child } = await begin({ timeoutMs: 1_000, graceMs: 500 });
    child.output("stuck");
    await pass(1_000 + 500 + 9_999);
    expect(await resultNow(run)).toBeUndefined();
    await pass(1);
    const result = await run.result;
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, exited: null, drain: "deadline" });
    expect(result.stdout.text).toBe("stuck");
  });
});

describe("a run whose host is slow to answer", () => {
  let confirm: () => void;
  let run: Run;
  /** The host has spawned the child and does not report that until the spec lets it. */
  beforeEach(async () => {
    const answered = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const { supervisor } = host;
    const slow: Backend = {
      start: async (spec, options) => {
        const process = await supervisor.start(spec, options);
        await answered;
        return process;
      },
      attach: () => new Promise(() => undefined),
      list: () => supervisor.list(),
      changes$: supervisor.changes$,
      close: () => supervisor.close(),
    };
    run = startRun(slow, { argv: ["/fake/program"] }, { clock: host.clock, timeoutMs: 1_000 });
    await nextTurn();
    await pass(1_000);
  });

  it("ends the process once its start is confirmed, and returns the output so far", async () => {
    const [child] = host.spawner.children as [FakeChild];
    child.output("hello");
    confirm();
    await nextTurn();
    expect(child.calls).toEqual(["SIGKILL tree"]);
    child.exit("SIGKILL");
    child.end();
    const result = await run.result;
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, signal: "SIGKILL" });
    expect(result.stdout.text).toBe("hello");
  });

  it("gets its result in time without the process, and ends the process if its start is confirmed later", async () => {
    expect(await resultNow(run)).toBeUndefined();
    await pass(10_000);
    expect(await run.result).toMatchObject({ exitCode: 124, timedOut: true, exited: null, drain: "deadline" });
    const [child] = host.spawner.children as [FakeChild];
    expect(child.calls).toEqual([]);
    confirm();
    await nextTurn();
    expect(child.calls).toEqual(["SIGKILL tree"]);
  });
});

describe("an aborted run", () => {
  it("is ended like one that times out, and reports the abort", async () => {
    const controller = new AbortController();
    const { run, child } = await begin({ signal: controller.signal });
    controller.abort();
    expect(child.calls).toEqual(["SIGKILL tree"]);
    child.exit("SIGKILL");
    child.end();
    expect(await run.result).toMatchObject({ exitCode: 124, timedOut: false, aborted: true, signal: "SIGKILL" });
  });

  it("is reported as timed out if the timeout came before the abort", async () => {
    const controller = new AbortController();
    const { run, child } = await begin({ signal: controller.signal, timeoutMs: 10_000 });
    await pass(10_000);
    controller.abort();
    expect(child.calls).toEqual(["SIGKILL tree"]);
    child.exit("SIGKILL");
    child.end();
    expect(await run.result).toMatchObject({ timedOut: true, aborted: false });
  });

  it("starts nothing when it was aborted before the call", async () => {
    const run = startRun(host.supervisor, { argv: ["/fake/program"] }, { signal: AbortSignal.abort() });
    expect(await run.result).toMatchObject({ exitCode: 124, aborted: true, exited: null, drain: "eof" });
    expect(await refusal(run.process)).toEqual({ code: "START_CANCELLED", data: {} });
    expect(host.spawner.launches).toEqual([]);
  });

  it.each(["abort", "timeout"])("cancels a pending start (%s)", async (why) => {
    host.spawner.wait();
    const controller = new AbortController();
    const options = { clock: host.clock, signal: controller.signal, timeoutMs: 700 };
    const run = startRun(host.supervisor, { argv: ["/fake/program"] }, options);
    await nextTurn();
    if (why === "abort") controller.abort();
    else await pass(700);
    expect(await run.result).toMatchObject({ exitCode: 124, aborted: why === "abort", timedOut: why === "timeout" });
    host.spawner.go();
    await nextTurn();
    // The child that was spawned meanwhile is killed and released.
    expect(host.spawner.children[0]?.calls).toEqual(["SIGKILL tree"]);
    host.spawner.children[0]?.exit("SIGKILL");
    host.spawner.children[0]?.end();
  });

  it("spares another process with the same id if its own start is refused", async () => {
    const other = await host.start({ processId: "mine" });
    const controller = new AbortController();
    const run = startRun(
      host.supervisor,
      { argv: ["/fake/program"], processId: "mine" },
      { signal: controller.signal, clock: host.clock },
    );
    controller.abort();
    expect(await refusal(run.result)).toEqual({ code: "PROCESS_EXISTS", data: {} });
    await nextTurn();
    expect(other.child.calls).toEqual([]);
  });

  it("kills the holders of its streams when it is aborted after the exit", async () => {
    const controller = new AbortController();
    const { run, child } = await begin({ signal: controller.signal });
    child.exit(0);
    await nextTurn();
    controller.abort();
    expect(child.calls).toContain("SIGKILL tree");
    child.end();
    expect(await run.result).toMatchObject({ exitCode: 124, aborted: true, exited: { exitCode: 0 }, drain: "eof" });
  });
});
