// Public bug reports about signals: which processes they reach, which they spare, and what is reported afterwards.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import type { Process } from "../../lib/process/process.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { dist } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";
import { allGone, endDetached, findProcesses, numbersIn } from "../support/trees.ts";
import { WireHost } from "../support/wire-host.ts";
import { describeCases } from "./describe-cases.ts";

const scratch = makeScratch();
const SCOPES = ["process", "group", "session", "tree"] as const;

describeCases("signals", (subject) => {
  const { start } = subject;
  const jobs: number[] = [];
  afterEach(() => endDetached(...jobs.splice(0)));
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** The job whose pid a script prints in its first line; it is ended after the case. */
  const jobOf = async (process: Process): Promise<number> => {
    const [pid] = numbersIn(await printed(process, "\n")) as [number];
    jobs.push(pid);
    return pid;
  };

  it("P18 a program that ignores SIGTERM is killed with its children after the grace, and the exit reports that", async () => {
    const process = await start({ argv: sh('trap "" TERM; sleep 30 & echo $!; wait') });
    const job = await jobOf(process);
    expect(await process.terminate({ graceMs: 300 })).toEqual({ running: true });
    expect(await exitOf(process)).toMatchObject({ exitCode: null, signal: "SIGKILL", reason: "terminate" });
    await allGone(job);
  });

  it("P19 a death by signal is neither 0 nor -1: it has no exit code but the signal's name, and is 137 in a shell", async () => {
    const process = await start({ argv: sh("kill -9 $$") });
    expect(await exitOf(process)).toMatchObject({ exitCode: null, signal: "SIGKILL", result: "error" });
    expect(await run(subject.backend, { argv: sh("kill -9 $$") })).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  });

  it("P21 a child outlives the end of any thread of the program that started it", async () => {
    const worker = new Worker("require('node:worker_threads').parentPort.once('message', () => {})", { eval: true });
    await once(worker, "online");
    const process = await start({ argv: ["sleep", "60"] });
    worker.postMessage("end");
    await once(worker, "exit");
    expect(isAlive(process.info.pid as number)).toBe(true);
    await process.terminate({ graceMs: 0 });
    expect(await exitOf(process)).toMatchObject({ signal: "SIGKILL", reason: "terminate" });
  });

  it("P22 no process is signalled once the exit is known and its pid may be reused", async () => {
    const child = await start({ argv: ["sleep", "60"] });
    const pid = child.info.pid as number;
    const kill = jest.spyOn(process, "kill");
    await child.signal("SIGTERM");
    expect(kill).toHaveBeenCalledWith(-pid, 15);
    await end(child);
    kill.mockClear();
    for (const scope of SCOPES) {
      await child.signal("SIGTERM", { scope });
      expect(await child.terminate({ graceMs: 0, scope })).toEqual({ running: false });
    }
    expect(await child.terminate()).toEqual({ running: false });
    expect(kill.mock.calls.filter(([target]) => Math.abs(target) === pid)).toEqual([]);
  });

  it("P24 a job detached on purpose outlives the program that detached it, and does not keep its streams open", async () => {
    const process = await start({ argv: sh("setsid sleep 60 >/dev/null 2>&1 & echo $!") });
    const job = await jobOf(process);
    await end(process);
    expect(await process.terminate()).toEqual({ running: false });
    expect(isAlive(job)).toBe(true);
  });

  it("P24 a job detached on purpose outlives a termination without a scope", async () => {
    const process = await start({ argv: sh("setsid sh -c 'echo $$; exec sleep 60 >/dev/null 2>&1' & wait") });
    const job = await jobOf(process);
    expect(await process.terminate({ graceMs: 0 })).toEqual({ running: true });
    await end(process);
    expect(isAlive(job)).toBe(true);
  });

  it("P25 terminate replies once the termination has begun; only the exit means that nothing changes any more", async () => {
    const late = scratch(uniqueName("late"));
    const script = 'trap "sleep 0.5; touch $1; exit 0" TERM; sleep 60 & echo $!; wait';
    const process = await start({ argv: sh(script, late) });
    await jobOf(process);
    expect(await process.terminate({ graceMs: 20_000 })).toEqual({ running: true });
    expect([process.info.state, existsSync(late)]).toEqual(["running", false]);
    expect(await exitOf(process)).toMatchObject({ exitCode: 0, reason: "terminate", result: "terminated" });
    expect(existsSync(late)).toBe(true);
  });

  it.each(["session", "tree"] as const)(
    "P27 a pipeline typed into an interactive shell ends with scope %s",
    async (scope) => {
      const argv = ["/bin/bash", "--norc", "--noprofile", "-i"];
      const process = await start({ argv, tty: true, env: { PS1: "> ", PATH: "/usr/bin:/bin" } });
      const seconds = `500.${globalThis.process.pid}${Math.floor(Math.random() * 1e6)}`;
      await process.write(`sleep ${seconds} | sleep ${seconds} &\n`);
      const find = () => findProcesses(`sleep\0${seconds}`);
      const pids = await settled(find, ({ length }) => length === 2);
      expect(pids.length).toBe(2);
      await process.terminate({ graceMs: 0, scope });
      await end(process);
      await allGone(...pids);
    },
  );
});

describe("a supervisor in a worker thread", () => {
  it("P21 is refused, since the children of a thread could not outlive it", async () => {
    const script = `
      import(${JSON.stringify(`${dist}/lib/index.js`)})
        .then(({ createSupervisor }) => createSupervisor().start({ argv: ["/bin/true"] }))
        .catch(({ code }) => require("node:worker_threads").parentPort.postMessage(code));`;
    const worker = new Worker(script, { eval: true });
    expect(await once(worker, "message")).toEqual(["UNSUPPORTED"]);
    await worker.terminate();
  });
});

describe("a client that is cut off", () => {
  let host: WireHost;
  afterEach(() => host.close());

  it("P28 loses its processes after the session time of the server, except those with onDetach keep", async () => {
    host = await WireHost.open({ limits: { sessionTtlMs: 500 } });
    const client = await host.connect();
    const argv = ["/bin/sleep", "300"];
    const [ended, kept] = await Promise.all([client.start({ argv }), client.start({ argv, onDetach: "keep" })]);
    const local = await host.supervisor.attach(ended.id);
    host.proxy.refuse();
    expect(local.info.state).toBe("running");
    expect(await exitOf(local)).toMatchObject({ signal: "SIGTERM", reason: "terminate" });
    expect((await host.supervisor.attach(kept.id)).info.state).toBe("running");
  });
});
