// A job server: one pipe that is open in a program of its own, in commands of two supervisors, and in whatever these start, as
// between nested makes. However one command is ended, its tree ends and everything else survives.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { createSupervisor, type Process, type Supervisor } from "../../lib/index.ts";
import { exitOf, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { runProgram } from "../support/system-run.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";

const scratch = makeScratch();
const env = { PATH: "/usr/bin:/bin" };
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** The job server's end of a FIFO, and a program beside the supervisors that has it open. */
async function openJobServer(): Promise<{ readonly fd: number; readonly other: number }> {
  const path = scratch(uniqueName("jobs"));
  await runProgram(["mkfifo", path]);
  const fd = openSync(path, "r+");
  ended.push(async () => closeSync(fd));
  const other: ChildProcess = spawn("sleep", ["1000"], { stdio: ["ignore", "ignore", "ignore", fd] });
  ended.push(async () => {
    const over = once(other, "exit");
    other.kill("SIGKILL");
    await over;
  });
  await once(other, "spawn");
  return { fd, other: other.pid as number };
}

function supervise(): Supervisor {
  const supervisor = createSupervisor({ spawner: "posix" });
  ended.push(() => supervisor.close({ graceMs: 0 }));
  return supervisor;
}

/** A make with a job: both have the pipe, the job in a session of its own. */
async function startMake(supervisor: Supervisor, fd: number, timeoutMs?: number): Promise<[Process, number[]]> {
  const argv = sh("setsid sh -c 'echo $$; exec sleep 1000' & echo $$; wait");
  const make = await supervisor.start({ argv, env, inheritFds: [fd], ...(timeoutMs !== undefined && { timeoutMs }) });
  const pids = numbersIn(await printed(make, /(\d+\s+){2}/));
  ended.push(() => endDetached(...pids));
  return [make, pids];
}

describe("a command that shares a job server with others", () => {
  it.each([
    ["its tree is terminated", (make: Process) => make.terminate({ scope: "tree", graceMs: 0 }), undefined],
    ["its time is over", (make: Process) => exitOf(make), 1_000],
    [
      "its supervisor is closed",
      (_make: Process, supervisor: Supervisor) => supervisor.close({ graceMs: 100 }),
      undefined,
    ],
  ] as const)("ends alone, with its own jobs, when %s", async (_when, finish, timeoutMs) => {
    const { fd, other } = await openJobServer();
    const [supervisor, neighbour] = [supervise(), supervise()];
    const [, theirs] = await startMake(neighbour, fd);
    const [make, ours] = await startMake(supervisor, fd, timeoutMs);
    await finish(make, supervisor);
    await allGone(...ours);
    expect([other, ...theirs].map(isAlive)).toEqual([true, true, true]);
  });
});
