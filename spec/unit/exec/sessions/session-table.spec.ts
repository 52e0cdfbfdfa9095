// The table of sessions: their number, which are removed first, listing, stopping, closing, and lost connections.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { EMPTY } from "rxjs";
import { ExecwireError } from "../../../../lib/errors.ts";
import { openExecSessions } from "../../../../lib/exec/sessions/sessions.ts";
import { ReplayLog } from "../../../../lib/log/replay-log.ts";
import type { Backend } from "../../../../lib/process/backend.ts";
import type { ProcessPort } from "../../../../lib/process/port.ts";
import { Process } from "../../../../lib/process/process.ts";
import { refusal } from "../../../support/refusal.ts";
import { SessionHost } from "./session-host.ts";

const argv = ["/fake/program"];

let host: SessionHost;
beforeEach(() => {
  host = new SessionHost({ limits: { sessions: 2 } });
});
afterEach(() => host.close());

describe("the number of sessions", () => {
  it("is bounded: if all of them run, a new start is refused", async () => {
    const { child } = await host.running();
    await host.running();
    expect(await refusal(host.sessions.start({ argv }))).toEqual({
      code: "LIMIT_EXCEEDED",
      data: { limit: "sessions" },
    });
    child.exit(0);
    await host.pass(0);
    // The exit is not the end: a process keeps the output open, and close() must still find it.
    expect(await refusal(host.sessions.start({ argv }))).toEqual({
      code: "LIMIT_EXCEEDED",
      data: { limit: "sessions" },
    });
    child.end();
    await host.running();
  });

  it("includes pending starts, and not failed ones", async () => {
    expect(await refusal(host.sessions.start({ argv: [] }))).toMatchObject({ code: "INVALID_PARAMS" });
    host.spawner.wait();
    const starts = [host.sessions.start({ argv }), host.sessions.start({ argv })];
    expect(await refusal(host.sessions.start({ argv }))).toMatchObject({ code: "LIMIT_EXCEEDED" });
    host.spawner.go();
    await host.pass(0);
    await host.pass(30_000);
    await Promise.all(starts);
  });

  it("is reduced first by sessions whose end was reported, then by those that ended first", async () => {
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

  it("does not limit the ids, which are never reused", async () => {
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

describe("stopping a session", () => {
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

  it("makes a waiting poll answer too", async () => {
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

  it("kills a tree that ignores SIGTERM, and keeps the session of one that cannot be killed", async () => {
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

describe("closing all sessions", () => {
  it("ends all processes with their trees, also one whose start is pending, and refuses new ones", async () => {
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

  it("is done by `await using`", async () => {
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

/** A backend with one process, whose log the spec writes; commands to it are refused. */
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

describe("a lost connection", () => {
  it("is reported in each answer, with the code and the output read before", async () => {
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
  it("is reported in the answer, with the output that shows it", async () => {
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
