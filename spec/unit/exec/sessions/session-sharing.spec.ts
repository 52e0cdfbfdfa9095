// Several calls on one session: no byte is returned twice, none is lost, and no call waits longer than it asked for.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execLimits } from "../../../../lib/exec/sessions/session-limits.ts";
import { SessionHost } from "./session-host.ts";

const { earlyExitMs, minPollMs, minYieldMs } = execLimits;

let host: SessionHost;
beforeEach(() => {
  host = new SessionHost({}, { limits: { stdinQueueBytes: 4 } });
});
afterEach(() => host.close());

describe("two polls at once", () => {
  it("get each byte once: the second poll gets what comes after the first has answered", async () => {
    const { id, child } = await host.running();
    const first = await host.call(host.sessions.poll(id, { yieldMs: 6_000, quietMs: 0 }));
    const second = await host.call(host.sessions.poll(id, { yieldMs: 6_000, quietMs: 0 }));
    child.output("one\n");
    await host.pass(earlyExitMs);
    child.output("two\n");
    await host.pass(earlyExitMs + 1);
    expect([(await first.answer).head, (await second.answer).head]).toEqual(["one\n", "two\n"]);
  });

  it("answer in their own time each, the second without output if the first still reads", async () => {
    const { id, child } = await host.running();
    const first = await host.call(host.sessions.poll(id, { yieldMs: 60_000 }));
    const second = await host.call(host.sessions.poll(id, { yieldMs: 10_000 }));
    child.output("one\n");
    await host.pass(10_000);
    expect([first.isAnswered, second.isAnswered]).toEqual([false, true]);
    expect(await second.answer).toMatchObject({ sessionId: id, head: "", omittedBytes: 0, exited: false });
    child.exit(0);
    child.end();
    await host.pass(0);
    expect(await first.answer).toMatchObject({ head: "one\n", exited: true });
  });

  it("both learn of the exit", async () => {
    const { id, child } = await host.running();
    const calls = [await host.call(host.sessions.poll(id)), await host.call(host.sessions.poll(id))];
    child.output("end\n");
    child.exit(4);
    child.end();
    await host.pass(0);
    const answers = await Promise.all(calls.map(({ answer }) => answer));
    expect(answers.map(({ head, exitCode }) => [head, exitCode])).toEqual([
      ["end\n", 4],
      ["", 4],
    ]);
  });
});

describe("a write to a session", () => {
  it("makes a waiting poll answer at once, and answers with the output that follows the write", async () => {
    const { id, child } = await host.running();
    const poll = await host.call(host.sessions.poll(id, { yieldMs: 60_000 }));
    child.output("$ ");
    const write = await host.call(host.sessions.write(id, { chars: "ls\n" }));
    expect(poll.isAnswered).toBe(true);
    expect(child.stdin?.received).toEqual(["ls\n"]);
    child.stdin?.take();
    child.output("a b\n");
    await host.pass(minYieldMs + earlyExitMs);
    expect([await poll.answer, await write.answer]).toMatchObject([
      { head: "$ " },
      { head: "a b\n", input: "accepted", sessionId: id },
    ]);
  });

  it("goes before polls that wait for the lock", async () => {
    const { id, child } = await host.running();
    const polls = [await host.call(host.sessions.poll(id)), await host.call(host.sessions.poll(id))];
    const write = await host.call(host.sessions.write(id, { chars: "x" }));
    child.stdin?.take();
    child.output("y");
    await host.pass(minYieldMs + earlyExitMs);
    expect([polls[0]?.isAnswered, polls[1]?.isAnswered, write.isAnswered]).toEqual([true, false, true]);
    expect((await write.answer).head).toBe("y");
    await host.pass(minPollMs);
    expect((await polls[1]?.answer)?.head).toBe("");
  });

  it("is refused at once if there is no stdin", async () => {
    const { id } = await host.running({ tty: false });
    const call = await host.call(host.sessions.write(id, { chars: "x", yieldMs: 30_000 }));
    await host.pass(earlyExitMs);
    expect(await call.answer).toMatchObject({ sessionId: id, input: "stdinClosed", exited: false });
  });

  it("is pending while the process does not read, and is delivered afterwards", async () => {
    const { id, child } = await host.running({ tty: false, pipeStdin: true });
    const first = await host.call(host.sessions.write(id, { bytes: Buffer.from("aaaa") }));
    await host.pass(minYieldMs + earlyExitMs);
    expect(await first.answer).toMatchObject({ input: "accepted" });
    const more = [await host.call(host.sessions.write(id, { chars: "bbbb" }))];
    more.push(await host.call(host.sessions.write(id, { chars: "cccc" })));
    await host.pass(minYieldMs);
    await host.pass(earlyExitMs);
    expect(await more[1]?.answer).toMatchObject({ sessionId: id, input: "pending" });
    while (child.stdin?.received.join("").length !== 12) {
      child.stdin?.take();
      await host.pass(0);
    }
    expect(child.stdin?.received.join("")).toBe("aaaabbbbcccc");
  });

  it("ends stdin when it is asked to", async () => {
    const { id, child } = await host.running({ tty: false, pipeStdin: true });
    const call = await host.call(host.sessions.write(id, { chars: "last\n", eof: true }));
    child.stdin?.take();
    await host.pass(minYieldMs + earlyExitMs);
    expect(child.stdin?.received).toEqual(["last\n", "EOF"]);
    expect(await call.answer).toMatchObject({ input: "accepted" });
  });

  it("without input is a poll, and waits like one", async () => {
    const { id } = await host.running();
    const call = await host.call(host.sessions.write(id, { chars: "", yieldMs: 0 }));
    await host.pass(minPollMs + earlyExitMs - 1);
    expect(call.isAnswered).toBe(false);
    await host.pass(1);
    expect(await call.answer).not.toHaveProperty("input");
  });
});

describe("a signal to a session", () => {
  it("reaches the group by default, or the given scope, and answers like a write", async () => {
    const { id, child } = await host.running({ tty: false });
    const interrupt = await host.call(host.sessions.signal(id, "SIGINT"));
    child.output("interrupted\n");
    await host.pass(minYieldMs + earlyExitMs);
    const hangUp = await host.call(host.sessions.signal(id, "SIGHUP", { scope: "process" }));
    child.exit("SIGHUP");
    child.end();
    await host.pass(0);
    expect(child.calls).toEqual(expect.arrayContaining(["SIGINT group", "SIGHUP process"]));
    expect([await interrupt.answer, await hangUp.answer]).toMatchObject([
      { head: "interrupted\n", exited: false },
      { exited: true, signal: "SIGHUP" },
    ]);
    expect(await host.sessions.signal(id, "SIGTERM")).not.toHaveProperty("input");
  });
});

describe("a call that is cancelled", () => {
  it("leaves what it has read to the next call", async () => {
    const { id, child } = await host.running();
    const giveUp = new AbortController();
    const lost = await host.call(host.sessions.poll(id, { signal: giveUp.signal }));
    child.output("kept");
    await host.pass(10);
    giveUp.abort(new Error("no time"));
    await expect(lost.answer).rejects.toThrow("no time");
    const next = await host.call(host.sessions.poll(id));
    await host.pass(minPollMs + earlyExitMs);
    expect((await next.answer).head).toBe("kept");
  });

  it("ends the process that it has just started", async () => {
    const giveUp = new AbortController();
    const call = await host.call(host.sessions.start({ argv: ["/fake/program"], signal: giveUp.signal }));
    giveUp.abort(new Error("no time"));
    await host.pass(0);
    expect(host.child.calls).toContain("SIGKILL tree");
    host.child.exit("SIGKILL");
    host.child.end();
    await expect(call.answer).rejects.toThrow("no time");
    expect(host.sessions.list()).toEqual([]);
  });

  it("ends a process whose start is confirmed after the cancellation", async () => {
    host.spawner.wait();
    const giveUp = new AbortController();
    const call = await host.call(host.sessions.start({ argv: ["/fake/program"], signal: giveUp.signal }));
    giveUp.abort(new Error("no time"));
    host.spawner.go();
    await host.pass(0);
    host.child.exit("SIGKILL");
    host.child.end();
    await expect(call.answer).rejects.toThrow("no time");
    expect(host.child.calls).toContain("SIGKILL tree");
  });
});
