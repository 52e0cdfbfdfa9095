// When a call answers, and with what: the spec advances the clock, so "just before" and "just after" are exact.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execLimits } from "../../../../lib/exec/sessions/session-limits.ts";
import type { Process } from "../../../../lib/process/process.ts";
import { printBytes, SessionHost } from "./session-host.ts";

const { startYieldMs, earlyExitMs, drainMs, minYieldMs, maxYieldMs, minPollMs, maxPollMs, pollYieldMs } = execLimits;
const argv = ["/fake/program"];

let host: SessionHost;
beforeEach(() => {
  host = new SessionHost();
});
afterEach(() => host.close());

describe("the start of a session", () => {
  it("answers at the end of a process that ends in time, with its output and without a session", async () => {
    const call = await host.call(host.sessions.start({ argv }));
    host.child.output("done\n");
    host.child.exit(3);
    host.child.end();
    await host.pass(0);
    expect(call.isAnswered).toBe(true);
    const { processId, ...answer } = await call.answer;
    expect(answer).toEqual({
      exited: true,
      exitCode: 3,
      signal: null,
      reason: "exited",
      sandboxDenied: false,
      outputClosed: true,
      outputDrained: true,
      head: "done\n",
      tail: "",
      omittedBytes: 0,
      tookMs: 0,
    });
    expect(typeof processId).toBe("string");
    expect(host.sessions.list()).toEqual([]);
  });

  it("answers when its time is over, with a session for the running process", async () => {
    const call = await host.call(host.sessions.start({ argv, yieldMs: 1_000 }));
    host.child.output("listening\n");
    await host.pass(1_000 + earlyExitMs - 1);
    expect(call.isAnswered).toBe(false);
    await host.pass(1);
    expect(await call.answer).toMatchObject({
      sessionId: expect.any(Number),
      exited: false,
      exitCode: null,
      outputClosed: false,
      outputDrained: false,
      head: "listening\n",
      tookMs: 1_000 + earlyExitMs,
    });
  });

  it("reports an exit within the grace after its time at once", async () => {
    const call = await host.call(host.sessions.start({ argv, yieldMs: 1_000 }));
    await host.pass(1_000 + earlyExitMs - 1);
    host.child.exit(0);
    host.child.end();
    await host.pass(0);
    const answer = await call.answer;
    expect(answer).toMatchObject({ exited: true, exitCode: 0, tookMs: 1_000 + earlyExitMs - 1 });
    expect(answer).not.toHaveProperty("sessionId");
  });

  it("answers at the exit if it comes just before the end of its time", async () => {
    const call = await host.call(host.sessions.start({ argv, yieldMs: 1_000 }));
    await host.pass(999);
    host.child.exit("SIGKILL");
    host.child.end();
    await host.pass(0);
    expect(await call.answer).toMatchObject({ exited: true, exitCode: null, signal: "SIGKILL", tookMs: 999 });
  });

  it("reports the exit even if another process keeps the output open, and has a session for it", async () => {
    const call = await host.call(host.sessions.start({ argv }));
    host.child.exit(0);
    await host.pass(drainMs - 1);
    expect(call.isAnswered).toBe(false);
    await host.pass(1);
    const { sessionId, ...answer } = await call.answer;
    expect(answer).toMatchObject({ exited: true, exitCode: 0, outputClosed: false, outputDrained: false });
    const poll = await host.call(host.sessions.poll(sessionId as number));
    await host.pass(drainMs + 1);
    expect(poll.isAnswered).toBe(false);
    host.child.output("late\n");
    host.child.end();
    await host.pass(0);
    const last = await poll.answer;
    expect(last).toMatchObject({ head: "late\n", exited: true, exitCode: 0, outputClosed: true, outputDrained: true });
    expect(last).not.toHaveProperty("sessionId");
  });

  it("waits for the end of the output neither longer nor shorter if its time ends meanwhile", async () => {
    const call = await host.call(host.sessions.start({ argv, yieldMs: 1_000 }));
    await host.pass(999);
    host.child.exit(0);
    await host.pass(drainMs - 1);
    expect(call.isAnswered).toBe(false);
    await host.pass(1);
    expect(await call.answer).toMatchObject({ exited: true, outputClosed: false, tookMs: 999 + drainMs });
  });

  it("returns output that comes between the exit and the end", async () => {
    const call = await host.call(host.sessions.start({ argv }));
    host.child.exit(0);
    await host.pass(drainMs - 1);
    host.child.output("of a grandchild\n");
    host.child.end();
    await host.pass(0);
    expect(await call.answer).toMatchObject({ head: "of a grandchild\n", outputDrained: true });
  });

  it("answers at the first silence when asked to", async () => {
    const call = await host.call(host.sessions.start({ argv, quietMs: 500 }));
    await host.pass(2_000);
    host.child.output("one\n");
    await host.pass(499);
    host.child.output("two\n");
    await host.pass(500 + earlyExitMs - 1);
    expect(call.isAnswered).toBe(false);
    await host.pass(1);
    expect(await call.answer).toMatchObject({ head: "one\ntwo\n", exited: false });
  });

  it("answers at that silence even if the terminal is resized meanwhile", async () => {
    let process: Process | undefined;
    const onSpawned = (spawned: Process) => {
      process = spawned;
    };
    const call = await host.call(host.sessions.start({ argv, tty: true, quietMs: 500, onSpawned }));
    host.child.output("one\n", "pty");
    await host.pass(300);
    await process?.resize({ rows: 10, cols: 40 });
    await host.pass(200 + earlyExitMs);
    expect(await call.answer).toMatchObject({ head: "one\n", exited: false, tookMs: 500 + earlyExitMs });
  });

  it("passes on the process as soon as it runs, before it waits for output", async () => {
    const pids: unknown[] = [];
    const call = await host.call(host.sessions.start({ argv, onSpawned: ({ info }) => pids.push(info.pid) }));
    expect(call.isAnswered).toBe(false);
    expect(pids).toEqual([host.child.pid]);
  });

  it("does not wait longer than the limit, however long it is asked to", async () => {
    const long = await host.call(host.sessions.start({ argv, yieldMs: 10 * maxYieldMs }));
    await host.pass(maxYieldMs + earlyExitMs - 1);
    expect(long.isAnswered).toBe(false);
    await host.pass(1);
    expect(long.isAnswered).toBe(true);
    const short = await host.call(host.sessions.start({ argv, yieldMs: 0 }));
    await host.pass(minYieldMs + earlyExitMs - 1);
    expect(short.isAnswered).toBe(false);
    await host.pass(1);
    expect(short.isAnswered).toBe(true);
    const usual = await host.call(host.sessions.start({ argv }));
    await host.pass(startYieldMs + earlyExitMs - 1);
    expect(usual.isAnswered).toBe(false);
    await host.pass(1);
    expect(usual.isAnswered).toBe(true);
  });
});

describe("a poll of a session", () => {
  it("raises a short wait to its minimum, and limits a long one to its maximum", async () => {
    const { id } = await host.running();
    for (const [yieldMs, waited] of [
      [0, minPollMs],
      [undefined, pollYieldMs],
      [10 * maxPollMs, maxPollMs],
    ] as const) {
      const call = await host.call(host.sessions.poll(id, yieldMs === undefined ? {} : { yieldMs }));
      await host.pass(waited + earlyExitMs - 1);
      expect(call.isAnswered).toBe(false);
      await host.pass(1);
      expect(call.isAnswered).toBe(true);
    }
  });

  it("returns everything printed since the last answer, also between calls", async () => {
    const { id, child } = await host.running();
    child.output("one\n");
    await host.pass(60_000);
    child.output("two\n");
    await host.pass(1);
    expect(host.sessions.list()).toMatchObject([{ sessionId: id, state: "running", unreadBytes: 8 }]);
    const call = await host.call(host.sessions.poll(id));
    child.output("three\n");
    await host.pass(minPollMs + earlyExitMs);
    expect(await call.answer).toMatchObject({ sessionId: id, head: "one\ntwo\nthree\n" });
    const next = await host.call(host.sessions.poll(id));
    await host.pass(minPollMs + earlyExitMs);
    expect(await next.answer).toMatchObject({ sessionId: id, head: "", tail: "", omittedBytes: 0 });
  });

  it("answers at once if the process has ended between calls, and later with the same facts", async () => {
    const { id, child } = await host.running();
    child.output("the end\n");
    child.exit(7);
    child.end();
    await host.pass(60_000);
    const { answer } = await host.call(host.sessions.poll(id));
    expect(await answer).toMatchObject({ head: "the end\n", exitCode: 7, outputDrained: true });
    const again = await host.call(host.sessions.write(id, { chars: "x" }));
    expect(await again.answer).toMatchObject({ head: "", exitCode: 7, outputDrained: true, input: "stdinClosed" });
  });

  it("joins a character that was printed in two halves, separately for each stream", async () => {
    const { id, child } = await host.running({ tty: false });
    const [euro, umlaut] = [Buffer.from("€"), Buffer.from("ü")];
    printBytes(child, euro.subarray(0, 2), "stdout");
    await host.pass(1);
    printBytes(child, umlaut.subarray(0, 1), "stderr");
    await host.pass(1);
    const first = await host.call(host.sessions.poll(id));
    await host.pass(minPollMs + earlyExitMs);
    expect(await first.answer).toMatchObject({ head: "", omittedBytes: 0 });
    printBytes(child, euro.subarray(2), "stdout");
    await host.pass(1);
    printBytes(child, umlaut.subarray(1), "stderr");
    const second = await host.call(host.sessions.poll(id));
    await host.pass(minPollMs + earlyExitMs);
    expect(await second.answer).toMatchObject({ head: "€ü" });
  });

  it("shows half a character as invalid at the end of the output", async () => {
    const { id, child } = await host.running();
    printBytes(child, Uint8Array.of(0xe2, 0x82));
    child.exit(0);
    child.end();
    const { answer } = await host.call(host.sessions.poll(id));
    expect(await answer).toMatchObject({ head: "\ufffd", outputDrained: true });
  });
});
