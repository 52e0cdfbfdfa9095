// Which sessions there are: how many, which go first, how they are listed, stopped and closed, and what a lost link makes of them.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { EMPTY } from "rxjs";
import { ExecwireError } from "../../../lib/errors.ts";
import { openExecSessions } from "../../../lib/exec/sessions.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { Backend } from "../../../lib/process/backend.ts";
import type { ProcessPort } from "../../../lib/process/port.ts";
import { Process } from "../../../lib/process/process.ts";
import { refusal } from "../../support/refusal.ts";
import { SessionHost } from "./session-host.ts";

const argv = ["/fake/program"];

let host: SessionHost;
beforeEach(() => {
  host = new SessionHost({ limits: { sessions: 2 } });
});
afterEach(() => host.close());

describe("the number of sessions", () => {
  it("is bounded: a full house of running ones lets nobody in", async () => {
    const { child } = await host.running();
    await host.running();
    expect(await refusal(host.sessions.start({ argv }))).toEqual({
      code: "LIMIT_EXCEEDED",
      data: { limit: "sessions" },
    });
    child.exit(0);
    await host.pass(0);
    // The exit is not the end: somebody holds the output, and close() must still find it.
    expect(await refusal(host.sessions.start({ argv }))).toEqual({
      code: "LIMIT_EXCEEDED",
      data: { limit: "sessions" },
    });
    child.end();
    await host.running();
  });

  it("counts starts that are on their way, and not those that failed", async () => {
    expect(await refusal(host.sessions.start({ argv: [] }))).toMatchObject({ code: "INVALID_PARAMS" });
    host.spawner.wait();
    const starts = [host.sessions.start({ argv }), host.sessions.start({ argv })];
    expect(await refusal(host.sessions.start({ argv }))).toMatchObject({ code: "LIMIT_EXCEEDED" });
    host.spawner.go();
    await host.pass(0);
    await host.pass(30_000);
    await Promise.all(starts);
  });

  it("lets go of those first whose end was told, then of those that ended longest ago", async () => {
    const [unread, told] = [await host.running(), await host.running()];
    for (const { child } of [unread, told]) {
      child.exit(0);
      child.end();
    }
    await host.sessions.poll(told.id);
    const third = await host.running();
    expect(host.sessions.list().map(({ sessionId }) => sessionId)).toEqual([unread.id, third.id]);
    const fourth = await host.running();
    expect(host.sessions.list().map(({ sessionId }) => sessionId)).toEqual([third.id, fourth.id]);
    expect(await refusal(host.sessions.poll(unread.id))).toEqual({
      code: "PROCESS_UNKNOWN",
      data: { sessionId: unread.id },
    });
  });

  it("is not told by the ids: they are never used again", async () => {
    const first = await host.running();
    const stopping = host.sessions.stop(first.id, { graceMs: 0 });
    await host.pass(0);
    first.child.exit("SIGKILL");
    first.child.end();
    await stopping;
    const second = await host.running();
    expect(second.id).toBe(first.id + 1);
  });
});

describe("stop", () => {
  it("ends the tree and answers with the last output and the exit", async () => {
    const { id, child } = await host.running();
    const call = await host.call(host.sessions.stop(id));
    expect(child.calls).toContain("SIGTERM tree");
    child.output("bye\n");
    child.exit("SIGTERM");
    child.end();
    await host.pass(0);
    const answer = await call.answer;
    expect(answer).toMatchObject({ head: "bye\n", signal: "SIGTERM", reason: "terminate", outputDrained: true });
    expect(answer).not.toHaveProperty("sessionId");
    expect(host.sessions.list()).toEqual([]);
  });

  it("answers a waiting poll as well", async () => {
    const { id, child } = await host.running();
    const poll = await host.call(host.sessions.poll(id, { yieldMs: 60_000 }));
    const stop = await host.call(host.sessions.stop(id));
    child.exit("SIGTERM");
    child.end();
    await host.pass(0);
    expect(await poll.answer).toMatchObject({ exited: true });
    expect(await stop.answer).toMatchObject({ exited: true });
    expect(host.sessions.list()).toEqual([]);
  });

  it("kills what does not go, and keeps what cannot be killed in mind", async () => {
    const { id, child } = await host.running();
    const call = await host.call(host.sessions.stop(id, { graceMs: 100 }));
    await host.pass(100);
    expect(child.calls).toContain("SIGKILL tree");
    await host.pass(5_000);
    await host.pass(1_000);
    expect(await call.answer).toMatchObject({ sessionId: id, exited: false, outputClosed: false });
    expect(host.sessions.list()).toMatchObject([{ sessionId: id, state: "running" }]);
  });
});

describe("close", () => {
  it("ends all processes with their trees, also one that is just being started, and lets nobody in", async () => {
    const { id, child } = await host.running();
    const poll = await host.call(host.sessions.poll(id));
    host.spawner.wait();
    const late = host.sessions.start({ argv });
    const closed = host.sessions.close({ graceMs: 0 });
    host.spawner.go();
    await host.pass(0);
    for (const each of [child, host.child]) {
      expect(each.calls).toContain("SIGKILL tree");
      each.exit("SIGKILL");
      each.end();
    }
    expect(await refusal(late)).toMatchObject({ code: "CLOSED" });
    await closed;
    expect(await poll.answer).toMatchObject({ signal: "SIGKILL" });
    expect(await refusal(host.sessions.start({ argv }))).toMatchObject({ code: "CLOSED" });
    expect(host.sessions.list()).toEqual([]);
  });

  it("is what `await using` does", async () => {
    const using = async () => {
      await using sessions = host.sessions;
      await host.running();
      return sessions;
    };
    const used = using();
    await host.pass(0);
    await host.pass(30_000);
    await host.pass(0);
    expect(host.child.calls).toContain("SIGTERM tree");
    host.child.exit("SIGTERM");
    host.child.end();
    await used;
  });
});

/** A backend whose one process is whatever is written to a log; commands to it are refused. */
function backendOver(log: ReplayLog, refuse: ExecwireError): Backend {
  const reject = async (): Promise<never> => {
    throw refuse;
  };
  const info = {
    processId: "far",
    incarnation: "one",
    state: "running",
    argv,
    cwd: "/",
    tty: true,
    stdin: true,
    startedAt: 0,
    exitCode: null,
    signal: null,
    sandbox: "none",
    labels: {},
  } as const;
  const port = { write: reject, closeStdin: reject, terminate: reject } as unknown as ProcessPort;
  const process = new Process({ info: () => info, log, port, delivery: "gap" });
  return { start: async () => process, attach: reject, list: reject, changes$: EMPTY, close: reject };
}

const lost = new ExecwireError("CONNECTION_LOST", "the connection is lost", { data: { reason: "gone" } });

describe("a lost link", () => {
  it("is a fact of each answer, with the code, beside what was read before", async () => {
    const log = new ReplayLog();
    const sessions = openExecSessions(backendOver(log, lost), { clock: host.clock });
    const start = await host.call(sessions.start({ argv, yieldMs: 250 }));
    await host.pass(1_000);
    const id = (await start.answer).sessionId as number;
    log.appendOutput("pty", Buffer.from("last words"));
    log.fail(lost);
    const failure = { code: "CONNECTION_LOST", message: "the connection is lost", data: { reason: "gone" } };
    expect(sessions.list()).toMatchObject([{ sessionId: id, state: "failed", failure }]);
    const write = await host.call(sessions.write(id, { chars: "x" }));
    const answer = await write.answer;
    expect(answer).toMatchObject({ head: "last words", failure, exited: false, exitCode: null });
    expect(answer).not.toHaveProperty("sessionId");
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    expect(await sessions.poll(id)).toMatchObject({ head: "", failure });
    expect(await sessions.stop(id)).toMatchObject({ failure });
    await sessions.close();
  });
});

describe("a denial by the sandbox", () => {
  it("is a fact of the answer, beside the output that tells of it", async () => {
    const log = new ReplayLog();
    const sessions = openExecSessions(backendOver(log, lost), { clock: host.clock });
    const start = await host.call(sessions.start({ argv }));
    log.appendOutput("stderr", Buffer.from("read-only file system\n"));
    log.appendExited({ exitCode: 1, signal: null, result: "error", reason: "exited", sandboxDenied: true });
    log.appendClosed();
    expect(await start.answer).toMatchObject({ exitCode: 1, sandboxDenied: true, head: "read-only file system\n" });
    await sessions.close();
  });
});
