// The lifecycle of a process with a fake child and a fake clock. Many of these are the Codex exec-server's own unit
// tests (local_process.rs), in their order.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { limits, type ProcessInfo } from "../../../protocol/index.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { closed, exited, gap, output, seen } from "../../support/transcript.ts";

let host: FakeHost;
beforeEach(() => {
  host = new FakeHost();
});
afterEach(() => host.close());

const TERMINATED = { result: "terminated", reason: "terminate" } as const;
const RUNNING = { exited: false, exitCode: null, signal: null, closed: false, sandboxDenied: false };

describe("the result of a process", () => {
  it("is success if it exits with 0 before the supervisor closes", async () => {
    const { child, events } = await host.start();
    child.exit(0);
    await host.close();
    expect(events).toEqual([exited(1), closed(2)]);
  });

  it("is error for any other code, and for a death by signal", async () => {
    const first = await host.start();
    first.child.exit(1);
    const second = await host.start();
    second.child.exit("SIGSEGV");
    expect(first.events).toEqual([exited(1, { exitCode: 1, result: "error" })]);
    const byItself = { exitCode: null, signal: "SIGSEGV", result: "error", reason: "signal" } as const;
    expect(second.events).toEqual([exited(1, byItself)]);
  });

  it("is terminated if that was requested before the exit, for every exit code", async () => {
    const { process, child, events } = await host.start();
    expect(await process.terminate()).toEqual({ running: true });
    child.exit(0);
    await host.close();
    expect(events).toEqual([exited(1, TERMINATED), closed(2)]);
  });

  it("is terminated if the supervisor closed before it exited", async () => {
    const { child, events } = await host.start();
    const end = host.supervisor.close();
    expect(child.calls).toEqual(["SIGTERM tree", "SIGCONT tree"]);
    child.exit(0);
    child.end();
    await end;
    expect(events).toEqual([exited(1, TERMINATED), closed(2)]);
  });

  it("is terminated with the reason timeout if it timed out", async () => {
    const { child, events } = await host.start({ timeoutMs: 500 });
    host.clock.advance(499);
    expect(child.calls).toEqual([]);
    host.clock.advance(1);
    expect(child.calls).toEqual(["SIGTERM tree", "SIGCONT tree"]);
    child.exit("SIGTERM");
    const timedOut = { exitCode: null, signal: "SIGTERM", result: "terminated", reason: "timeout" } as const;
    expect(events).toEqual([exited(1, timedOut)]);
  });

  it("is its own if it ends before its timeout", async () => {
    const { child, events } = await host.start({ timeoutMs: 500 });
    child.exit(0);
    host.clock.advance(500);
    expect([events, child.calls]).toEqual([[exited(1)], []]);
  });
});

describe("an exited process", () => {
  it("answers a terminate with running: false, and is not signalled", async () => {
    const { process, child } = await host.start();
    child.exit(0);
    expect(await process.read()).toMatchObject({ exited: true, closed: false });
    expect(await process.terminate()).toEqual({ running: false });
    await process.signal("SIGINT");
    expect(child.calls).toEqual([]);
    child.end();
    expect(await process.read()).toMatchObject({ closed: true });
  });

  it("has leftovers that a signal with a scope reaches", async () => {
    const { process, child } = await host.start();
    child.exit(0);
    expect(await process.terminate({ scope: "session", graceMs: 0 })).toEqual({ running: false });
    expect(child.calls).toEqual(["SIGKILL session"]);
  });

  it("has late output in its log, however long after the exit it comes", async () => {
    const { process, child } = await host.start();
    child.exit(0);
    const seenExit = { ...RUNNING, exited: true, exitCode: 0 };
    expect(await process.read({ waitMs: 1000 })).toEqual({ chunks: [], nextSeq: 2, ...seenExit });
    host.clock.advance(2 * limits.closedRetentionMs);
    child.output("late output after retention\n");
    const late = await process.read({ afterSeq: 1, waitMs: 1000 });
    expect(late.chunks.map(seen)).toEqual([output(2, "stdout", "late output after retention\n")]);
    expect(late).toMatchObject(seenExit);
    child.end();
    expect(await process.read({ afterSeq: 1 })).toMatchObject({ nextSeq: 4, closed: true });
  });

  it("is closed when its last stream ends, and not before", async () => {
    const { child, events } = await host.start();
    child.end("stdout");
    child.exit(0);
    child.output("x", "stderr");
    expect(events.map(seen)).toEqual([exited(1), output(2, "stderr", "x")]);
    child.end("stderr");
    expect(events.map(seen)).toEqual([exited(1), output(2, "stderr", "x"), closed(3, { stderr: 1 })]);
    expect(child.calls).toEqual(["release"]);
  });

  it("is closed by its exit if its streams ended before", async () => {
    const { child, events } = await host.start();
    child.end();
    expect(events).toEqual([]);
    child.exit(0);
    expect(events).toEqual([exited(1), closed(2)]);
  });

  it("has everything that it printed before in its log, including merged output", async () => {
    const { child, events } = await host.start();
    child.output("a");
    child.output("b");
    child.exit(0);
    child.end();
    const all = [output(1, "stdout", "a"), output(2, "stdout", "b"), exited(3), closed(4, { stdout: 2 })];
    expect(events.map(seen)).toEqual(all);
  });

  it("accepts no input any more", async () => {
    const { process, child } = await host.start({ pipeStdin: true });
    expect(await process.write("first", { writeId: "w1" })).toBe("accepted");
    child.exit(0);
    expect(await process.write("second")).toBe("stdinClosed");
    expect(await process.write("first", { writeId: "w1" })).toBe("accepted");
    expect(child.stdin?.received).toEqual(["first"]);
  });
});

describe("a process that prints more chunks than are retained", () => {
  it("retains the last 50,000, which fit the values of one JSON message", async () => {
    const { process, child } = await host.start();
    for (let seq = 1; seq <= 50_001; seq += 1) {
      child.output(seq === 50_001 ? "y" : "x");
      host.clock.advance(limits.mergeWindowMs);
    }
    const reply = await process.read();
    const seqs = Array.from({ length: 50_000 }, (_, index) => index + 2);
    expect(reply.chunks.map(({ seq }) => seq)).toEqual(seqs);
    expect(reply.chunks.map(({ chunk }) => String(chunk)).join("")).toBe(`${"x".repeat(49_999)}y`);
    expect(reply).toMatchObject({ nextSeq: 50_002, gap: gap(1, 1, 1), ...RUNNING });
    expect(countValues({ id: 1, result: reply })).toBeLessThan(262_144);
  });
});

describe("a process whose start is cancelled while it is spawned", () => {
  it("rejects the start, kills and releases the child, and frees its id", async () => {
    host.spawner.wait();
    const started = host.supervisor.start({ argv: ["/fake/program"], processId: "a" });
    const outcome = started.catch((error) => error.code);
    const process = await host.supervisor.attach("a");
    expect([process.info.state, await process.write("x")]).toEqual(["starting", "starting"]);
    await expect(process.read()).rejects.toMatchObject({ code: "PROCESS_STARTING" });
    await process.signal("SIGTERM");
    expect(await process.terminate()).toEqual({ running: true });
    expect([await outcome, process.info.state]).toEqual(["START_CANCELLED", "removed"]);
    expect(await host.supervisor.list()).toEqual([]);
    host.spawner.go();
    await nextTurn();
    const [child] = host.spawner.children;
    expect(child?.calls).toEqual(["SIGKILL tree"]);
    child?.exit("SIGKILL");
    child?.end();
    expect(child?.calls).toEqual(["SIGKILL tree", "release"]);
  });

  it("is cancelled when the supervisor closes, too", async () => {
    host.spawner.wait();
    const outcome = host.supervisor.start({ argv: ["/fake/program"] }).catch((error) => error.code);
    await nextTurn();
    const end = host.supervisor.close();
    host.spawner.go();
    await nextTurn();
    const [child] = host.spawner.children;
    child?.exit("SIGKILL");
    child?.end();
    await end;
    expect([await outcome, child?.calls]).toEqual(["START_CANCELLED", ["SIGKILL tree", "release"]]);
  });
});

describe("the changes of a supervisor", () => {
  it("report each state once, in order", async () => {
    const states: unknown[] = [];
    host.supervisor.changes$.subscribe(({ state, pid, exitCode }: ProcessInfo) => states.push([state, pid, exitCode]));
    const { child } = await host.start();
    child.exit(3);
    child.end();
    host.clock.advance(limits.closedRetentionMs);
    expect(states).toEqual([
      ["starting", undefined, null],
      ["running", 1000, null],
      ["exited", 1000, 3],
      ["closed", 1000, 3],
      ["removed", 1000, 3],
    ]);
  });
});

/** Values of a JSON message as a parser with a budget counts them, bytes being one string. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 1);
}
