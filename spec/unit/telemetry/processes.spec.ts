// Metrics of processes, as an OpenTelemetry SDK sees them. The results are those of the exec-server's tests (local_process.rs).
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { Subject } from "rxjs";
import { openExecSessions } from "../../../lib/exec/sessions/sessions.ts";
import { followProcesses } from "../../../lib/telemetry/process-metrics.ts";
import type { ProcessInfo } from "../../../protocol/index.ts";
import { FakeHost, type FakeProcess } from "../../support/fake-supervisor.ts";
import { Metrics, type Numbers } from "../../support/metrics.ts";
import { nextTurn } from "../../support/next-turn.ts";

let metrics: Metrics;
let host: FakeHost;
beforeEach(() => {
  metrics = new Metrics();
  host = new FakeHost({ meter: metrics.meter });
});
afterEach(async () => {
  await host.close();
  await metrics.close();
});

/** One process with its result; `running` is zero again. */
const once = (result: string): Numbers => ({
  "exec.process.started": 1,
  [`exec.process.finished ${result}`]: 1,
  [`exec.process.duration ${result}`]: 1,
});

describe("the result of a process", () => {
  it("is success if it exits with 0 before the supervisor is closed", async () => {
    const { child } = await host.start();
    child.exit(0);
    await host.close();
    expect(await metrics.numbers()).toEqual(once("success"));
  });

  it.each([3, "SIGSEGV"])("is error if it ends by itself with %s", async (status) => {
    const { child } = await host.start();
    child.exit(status);
    expect(await metrics.numbers()).toEqual(once("error"));
  });

  it("is terminated if that was requested before the exit, also with code 0", async () => {
    const { process, child } = await host.start();
    expect(await process.terminate()).toEqual({ running: true });
    child.exit(0);
    await host.close();
    expect(await metrics.numbers()).toEqual(once("terminated"));
  });

  it("stays success if it is terminated after the exit", async () => {
    const { process, child } = await host.start();
    child.exit(0);
    expect(await process.terminate()).toEqual({ running: false });
    child.end();
    expect(await metrics.numbers()).toEqual(once("success"));
  });

  it("is terminated if it times out", async () => {
    const { child } = await host.start({ timeoutMs: 1000 });
    host.clock.advance(1000);
    child.exit(0);
    expect(await metrics.numbers()).toEqual(once("terminated"));
  });

  it("is terminated when the supervisor is closed before the exit", async () => {
    const { child } = await host.start();
    const closing = host.supervisor.close();
    child.exit(0);
    child.end();
    await closing;
    expect(await metrics.numbers()).toEqual(once("terminated"));
  });

  it("is terminated if the supervisor is closed and the exit never becomes known", async () => {
    await host.start();
    await host.close();
    expect(await metrics.numbers()).toEqual(once("terminated"));
  });

  it("is terminated if the start was cancelled and the child was spawned all the same", async () => {
    host.spawner.wait();
    const starting = host.supervisor.start({ argv: ["/fake"], processId: "p" });
    const process = await host.supervisor.attach("p");
    await process.terminate();
    expect(await metrics.numbers()).toEqual({});
    host.spawner.go();
    await expect(starting).rejects.toMatchObject({ code: "START_CANCELLED" });
    // The actor gets the child in this turn.
    await nextTurn();
    host.spawner.children[0]?.exit("SIGKILL");
    expect(await metrics.numbers()).toEqual(once("terminated"));
  });

  it("is not recorded if the start failed", async () => {
    host.spawner.spawn = async () => {
      throw new Error("no");
    };
    await expect(host.start()).rejects.toThrow();
    expect(await metrics.numbers()).toEqual({});
  });
});

describe("the running processes", () => {
  it("are counted up at the start and down at the exit, over all supervisors of a program", async () => {
    const other = new FakeHost({ meter: metrics.meter });
    const processes = [await host.start(), await host.start(), await other.start()];
    const counted: number[] = [];
    const look = async () => counted.push((await metrics.numbers())["exec.process.running"] ?? 0);
    await look();
    for (const { child } of processes) {
      child.exit(0);
      await look();
      child.end();
    }
    expect(counted).toEqual([3, 2, 1, 0]);
    expect(await metrics.numbers()).toMatchObject({ "exec.process.started": 3, "exec.process.finished success": 3 });
    await other.close();
  });
});

it("records how long a process ran in seconds, to its exit and not to the end of its output", () => {
  const changes$ = new Subject<ProcessInfo>();
  const told: unknown[] = [];
  let now = 5_000;
  const started = () => told.push("started");
  const finished = (result: string, seconds: number) => told.push([result, seconds]);
  const change = (state: string) => changes$.next({ incarnation: "one", state } as ProcessInfo);
  followProcesses(
    { started, finished },
    changes$,
    () => "error",
    () => now,
  );
  for (const state of ["starting", "running", "exited", "closed", "removed"]) {
    change(state);
    now += 1_500;
  }
  expect(told).toEqual(["started", ["error", 1.5]]);
});

describe("the output and input", () => {
  it("is counted in bytes by stream", async () => {
    const pipes = await host.start({ pipeStdin: true });
    pipes.child.output("out\n");
    pipes.child.output("err", "stderr");
    const terminal = await host.start({ tty: true });
    terminal.child.output("pty\r\n");
    await pipes.process.write("to the program");
    await pipes.process.write("not taken");
    pipes.child.stdin?.take();
    for (const { child } of [pipes, terminal]) child.exit(0);
    expect(await metrics.numbers()).toMatchObject({
      "exec.process.io stdout": 4,
      "exec.process.io stderr": 3,
      "exec.process.io pty": 5,
      "exec.process.io stdin": 14,
    });
  });

  it("counts a repeated write once more only as a duplicate", async () => {
    const { process, child } = await host.start({ pipeStdin: true });
    for (const writeId of ["a", "a", "b", "a"]) {
      expect(await process.write("x", { writeId })).toBe("accepted");
    }
    await expect(process.write("other", { writeId: "a" })).rejects.toMatchObject({ code: "WRITE_ID_CONFLICT" });
    child.stdin?.take();
    child.stdin?.take();
    expect(child.stdin?.received).toEqual(["x", "x"]);
    expect(await metrics.numbers()).toMatchObject({ "exec.stdin.duplicates": 2, "exec.process.io stdin": 2 });
  });
});

describe("a loss of output", () => {
  /** Prints more than is retained. */
  async function flood(): Promise<FakeProcess> {
    host = new FakeHost({ meter: metrics.meter, limits: { retainedEvents: 2, mergeBelowBytes: 0 } });
    const started = await host.start();
    for (let index = 0; index < 10; index += 1) started.child.output(`line ${index}\n`);
    return started;
  }

  const gaps = async () => (await metrics.numbers())["exec.log.gaps"];

  it("counts for each reader that gets a gap, however it reads", async () => {
    const { process, events, child } = await flood();
    expect(events).toHaveLength(10);
    expect(await gaps()).toBeUndefined();
    process.events().subscribe();
    expect(await gaps()).toBe(1);
    expect((await process.iterate().next()).value).toMatchObject({ type: "gap" });
    expect(await gaps()).toBe(2);
    expect(await process.read()).toMatchObject({ gap: { firstSeq: 1, lastSeq: 8 } });
    expect(await gaps()).toBe(3);
    child.exit(0);
  });

  it("counts for an agent, whose answer reports exactly how much it omits", async () => {
    host = new FakeHost({ meter: metrics.meter, limits: { retainedEvents: 2, mergeBelowBytes: 0 } });
    const sessions = openExecSessions(host.supervisor, { clock: host.clock });
    const starting = sessions.start({ argv: ["/fake/program"], tty: true });
    await nextTurn();
    const child = host.spawner.children.at(-1);
    child?.output("first\n", "pty");
    host.clock.advance(30_000);
    const { sessionId, head } = await starting;
    expect(head).toBe("first\n");
    for (let index = 0; index < 10; index += 1) child?.output(`line ${index}\n`, "pty");
    const polling = sessions.poll(sessionId as number);
    child?.exit(0);
    child?.end();
    const answer = await polling;
    expect(answer).toMatchObject({ omittedBytes: 70, outputDrained: true });
    expect(answer).not.toHaveProperty("omittedAtLeast");
    expect(await gaps()).toBe(1);
  });

  it("does not count twice for a read that only checks for news", async () => {
    const { process, child } = await flood();
    expect(await process.read({ waitMs: 1000 })).toMatchObject({ gap: { firstSeq: 1, lastSeq: 8 } });
    expect(await gaps()).toBe(1);
    child.exit(0);
  });
});

it("describes each metric with its unit, and nothing about the commands", async () => {
  const { child } = await host.start({
    argv: ["/secret/program", "secret-argument"],
    env: { NAME: "secret-value" },
    labels: { label: "secret-label" },
    processId: "secret-id",
  });
  child.output("secret-output");
  child.exit(0);
  const exported = await metrics.export();
  expect(JSON.stringify(exported)).not.toContain("secret");
  const attributes = exported.flatMap(({ dataPoints }) => dataPoints.flatMap((point) => Object.keys(point.attributes)));
  expect(new Set(attributes)).toEqual(new Set(["exec.result", "exec.stream"]));
  expect(exported.map(({ descriptor: { name, unit } }) => `${name} ${unit}`).sort()).toEqual([
    "exec.log.gaps {gap}",
    "exec.process.duration s",
    "exec.process.finished {process}",
    "exec.process.io By",
    "exec.process.running {process}",
    "exec.process.started {process}",
    "exec.stdin.duplicates {write}",
  ]);
});
