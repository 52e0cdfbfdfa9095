// The guard: which processes its shell script kills and which it spares, in each installed shell, and how it is replaced.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { afterEach, describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../../lib/errors.ts";
import { createSupervisor } from "../../../../lib/local/supervisor.ts";
import { Guard, type GuardOptions } from "../../../../lib/spawn/guard/guard.ts";
import { GUARD_SCRIPT } from "../../../../lib/spawn/guard/guard-script.ts";
import { Libc } from "../../../../lib/spawn/posix/libc.ts";
import { readLink, readProcess } from "../../../../lib/spawn/proc/proc.ts";
import { sh } from "../../../support/programs.ts";
import { makeScratch } from "../../../support/scratch.ts";
import { childrenOf, isAlive, stateOf } from "../../../support/system-facts.ts";
import { settled } from "../../../support/system-wait.ts";
import { allGone, endDetached } from "../../../support/trees.ts";

/** Programs that are /bin/sh on some systems, with the name that they have then. */
const SHELLS = [
  ["sh", "sh"],
  ["bash", "sh"],
  ["busybox", "busybox", "sh"],
].filter(([program]) => spawnSync(program as string, ["-c", ":"]).error === undefined);
/** Prints pids: a job in the background, one in a session of its own with a child, and its own. */
const TREE = `
sleep 300 & echo $!
setsid sh -c 'sleep 300 & echo $!; echo $$; wait' & echo $!
echo $$; wait`;

const at = makeScratch();
const libc = new Libc();
const left: number[] = [];
afterEach(() => endDetached(...left.splice(0)));

/** Starts the leader of a session; returns the first `count` numbers that it prints, its own pid first. */
async function lead(argv: readonly string[], count: number): Promise<[number, ...number[]]> {
  const child = spawn(argv[0] as string, argv.slice(1), { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const pids = [child.pid as number];
  if (count === 0) await once(child, "spawn");
  else {
    for await (const line of createInterface(child.stdout)) {
      pids.push(Number(line));
      if (pids.length > count) break;
    }
  }
  left.push(...pids);
  return pids as [number, ...number[]];
}

/** The row of a process with its start time, and without. */
const recordOf = (pid: number, startTime = readProcess(pid)?.startTime) =>
  `${pid} ${startTime}`.padEnd(39).concat("\n");
const reservedRecordOf = (pid: number, mark: number | "" = "") => `${pid} - ${mark}`.padEnd(39).concat("\n");
/** The row of a process that ended at `tick`. */
const endedRecordOf = (pid: number, tick: number, mark: number | "" = "") =>
  `${pid} <${tick} ${mark}`.padEnd(39).concat("\n");
const ERASED = " ".repeat(39).concat("\n");

/** Processes started at the moment of the end are distinguished from unrelated ones only by their mark. */
async function passTick(): Promise<void> {
  const tick = libc.ticks();
  await settled(
    () => libc.ticks(),
    (now) => now > tick,
  );
}

/** Runs a guard with these rows in its table, and waits until it has finished. */
async function killAfter(recorded: string, [program = "", argv0 = "", ...args]: readonly string[]): Promise<void> {
  const path = at("table");
  writeFileSync(path, recorded);
  const table = openSync(path, "r");
  const env = { PATH: process.env.PATH };
  const argv = [...args, "-c", GUARD_SCRIPT];
  const guard = spawn(program, argv, { argv0, env, stdio: ["pipe", "ignore", "ignore", table] });
  closeSync(table);
  const ended = once(guard, "close");
  await passTick();
  guard.stdin?.end();
  expect(await ended).toEqual([0, null]);
}

const fileOf = (fd: string) => readLink(`/proc/self/fd/${fd}`);
const alive = (pids: readonly number[]) => pids.map(isAlive);

describe.each(SHELLS)("the guard's script in %s", (...shell) => {
  it.each([
    ["by its id", reservedRecordOf],
    ["by its id and start time", recordOf],
  ])("kills a session that is recorded %s, and its descendants that left it", async (_how, record) => {
    const tree = await lead(sh(TREE), 5);
    await killAfter(record(tree[0]), shell);
    await allGone(...tree);
  });

  it.each([
    ["the start time 0", (pid: number) => recordOf(pid, 0)],
    ["no start time", reservedRecordOf],
  ])("kills what an exited leader with %s left in its session", async (_what, record) => {
    const [leader, job = 0] = await lead(sh("sleep 300 & echo $!"), 1);
    // It is reaped already: a zombie would show its real start time.
    expect(
      await settled(
        () => stateOf(leader),
        (state) => state === undefined,
      ),
    ).toBeUndefined();
    expect(isAlive(job)).toBe(true);
    await killAfter(record(leader), shell);
    await allGone(job);
  });

  it("skips erased rows, reads only the rows in use, and spares processes without a row", async () => {
    const [other] = await lead(["sleep", "300"], 0);
    const [first] = await lead(["sleep", "300"], 0);
    const [second] = await lead(["sleep", "300"], 0);
    await killAfter(
      `${ERASED}${recordOf(first)}${ERASED}${ERASED}${reservedRecordOf(second)}end\n${recordOf(other)}`,
      shell,
    );
    await allGone(first, second);
    expect(isAlive(other)).toBe(true);
  });

  it("kills processes with a recorded mark that were reparented like the guard", async () => {
    const [mark, other] = [2 ** 40 + process.pid, 2 ** 41 + process.pid];
    const [leader] = await lead(sh("sleep 300"), 0);
    const [marked] = await lead(["sleep", "300"], 0);
    const [spared] = await lead(["sleep", "300"], 0);
    libc.limitLocks(marked, { soft: mark, hard: Number.POSITIVE_INFINITY });
    libc.limitLocks(spared, { soft: other, hard: Number.POSITIVE_INFINITY });
    await killAfter(reservedRecordOf(leader, mark), shell);
    await allGone(leader, marked);
    expect(isAlive(spared)).toBe(true);
  });

  it("kills what an ended process left in its session, by the time of its end or its mark, and nothing else there", async () => {
    const mark = 2 ** 42 + process.pid;
    const script = "sleep 300 & echo $!; setsid sh -c 'echo $$; exec sleep 300' & read line";
    const [older, olderJob = 0, olderDaemon = 0] = await lead(sh(script), 2);
    const [younger, youngerJob = 0, youngerDaemon = 0] = await lead(sh(script), 2);
    for (const pid of [youngerJob, youngerDaemon, olderDaemon])
      libc.limitLocks(pid, { soft: mark, hard: Number.POSITIVE_INFINITY });
    await settled(
      () => [older, younger].map(stateOf),
      (states) => states.every((state) => state === undefined),
    );
    const start = (pid: number) => readProcess(pid)?.startTime as number;
    // The start time of the second does not prove that it existed before the end.
    const records = endedRecordOf(older, start(olderJob) + 1) + endedRecordOf(younger, start(youngerJob), mark);
    await killAfter(records, shell);
    await allGone(olderJob, youngerJob);
    expect(alive([olderDaemon, youngerDaemon])).toEqual([true, true]);
  });

  it("spares a process that got the pid of a recorded one after the end of the supervisor", async () => {
    const [own, ownJob = 0] = await lead(sh("sleep 300 & echo $!; wait"), 1);
    const [program = "", argv0 = "", ...args] = shell;
    const argv = [...args, "-c", GUARD_SCRIPT];
    const guard = spawn(program, argv, { argv0, env: {}, stdio: ["pipe", "ignore", "ignore", "pipe"] });
    const ended = once(guard, "close");
    await passTick();
    guard.stdin?.end();
    // It now reads its table instead of its stdin, and knows the time of the end.
    const files = () => [0, 3].map((fd) => readLink(`/proc/${guard.pid}/fd/${fd}`));
    const [stdin, table] = await settled(files, ([first, third]) => first === third);
    expect(stdin).toBe(table);
    await passTick();
    const [other, otherJob = 0] = await lead(sh("sleep 300 & echo $!; wait"), 1);
    (guard.stdio[3] as Writable).end(reservedRecordOf(own) + reservedRecordOf(other));
    expect(await ended).toEqual([0, null]);
    await allGone(own, ownJob);
    expect(alive([other, otherJob])).toEqual([true, true]);
  });

  it("spares a session with the id of an ended process whose leader exists", async () => {
    const [other, job = 0] = await lead(sh("sleep 300 & echo $!; wait"), 1);
    await killAfter(endedRecordOf(other, readProcess(other)?.startTime as number, 2 ** 43), shell);
    expect(alive([other, job])).toEqual([true, true]);
  });

  it("spares an unrelated process that got the pid of a recorded one, and its session", async () => {
    const [stranger, job = 0] = await lead(sh("sleep 300 & echo $!; wait"), 1);
    await killAfter(recordOf(stranger, (readProcess(stranger)?.startTime ?? 0) - 1), shell);
    await killAfter(recordOf(stranger, 0), shell);
    expect(alive([stranger, job])).toEqual([true, true]);
  });

  it("ignores a truncated row", async () => {
    const [pid] = await lead(["sleep", "300"], 0);
    await killAfter(`${pid}`, shell);
    expect(isAlive(pid)).toBe(true);
  });

  it.each([
    ["parentheses, spaces and a line feed", ") S 1 1 (\n1 x"],
    ["a command to the shell", ") $(kill 0) `"],
    ["bytes that are not text", Buffer.from([0x81, 0x82, 0x29, 0x20, 0x83, 0x88, 0xff, 0x5c])],
  ])("kills a process whose name contains %s", async (_what, name) => {
    const folder = mkdtempSync(at("names-"));
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
    symlinkSync("/bin/sh", path);
    // In a file, since Node cannot pass an argument that is not text.
    const script = ["exec '", path, "' -c 'sleep 300 & echo $!; echo $$; wait'"].map((part) => Buffer.from(part));
    writeFileSync(`${folder}/script`, Buffer.concat(script));
    const tree = await lead(sh(`setsid sh ${folder}/script & wait`), 2);
    await killAfter(recordOf(tree[0]), shell);
    await allGone(...tree);
  });
});

describe("a guard", () => {
  const guards: Guard[] = [];
  const reports: unknown[] = [];
  const make = (options?: GuardOptions) => {
    reports.length = 0;
    const guard = new Guard((error) => reports.push(error), options);
    guards.push(guard);
    return guard;
  };
  const reported = () =>
    settled(
      () => reports.length,
      (count) => count > 0,
    );
  afterEach(() => {
    for (const guard of guards.splice(0)) guard.close();
  });

  it("is started with the first process, and ends alone when it is released", async () => {
    const guard = make();
    expect(guard.pid).toBeUndefined();
    const [pid] = await lead(["sleep", "300"], 0);
    guard.add(pid);
    const own = guard.pid as number;
    expect(childrenOf(process.pid)).toContain(own);
    expect(readProcess(own)).toMatchObject({ parent: process.pid, group: own, session: own });
    guard.close();
    await allGone(own);
    expect(isAlive(pid)).toBe(true);
  });

  it.each([
    ["does not exist", "/no/such/shell", /ENOENT/],
    ["is not a shell", "/bin/false", /exit code 1/],
  ])("whose shell %s is reported once, however many processes need it", async (_how, shell, message) => {
    const guard = make({ shell });
    const [pid] = await lead(["sleep", "300"], 0);
    guard.add(pid);
    await reported();
    await settled(
      () => guard.pid,
      (own) => own === undefined,
    );
    const [second] = await lead(["sleep", "300"], 0);
    guard.add(second);
    await settled(
      () => guard.pid,
      (own) => own === undefined,
    );
    guard.forget(pid);
    expect(reports).toEqual([expect.any(ExecwireError)]);
    expect(reports[0]).toMatchObject({ code: "SPAWN_FAILED", message: expect.stringMatching(message) });
  });

  it("records the start time of a process that still runs after a moment, since its pid may be reused later", async () => {
    const guard = make();
    const [pid] = await lead(["sleep", "300"], 0);
    guard.add(pid);
    const [table] = readdirSync("/proc/self/fd").filter((fd) => fileOf(fd)?.includes("/execwire-guard-"));
    const rows = () => readFileSync(`/proc/self/fd/${table}`, "latin1");
    expect(rows().startsWith(reservedRecordOf(pid))).toBe(true);
    expect(await settled(rows, (text) => text.startsWith(recordOf(pid)))).toContain(`end`);
    guard.forget(pid);
    expect(rows().startsWith(ERASED)).toBe(true);
  });

  it("is reported once if its table cannot be created, and is started once it can", async () => {
    const folder = at("not-there-yet");
    const guard = make({ folders: [folder] });
    const [pid] = await lead(["sleep", "300"], 0);
    guard.add(pid);
    await reported();
    expect([guard.pid, reports]).toEqual([undefined, [expect.objectContaining({ code: "SPAWN_FAILED" })]]);
    mkdirSync(folder);
    expect(
      await settled(
        () => guard.pid,
        (own) => own !== undefined,
      ),
    ).toBeGreaterThan(0);
    expect(reports).toHaveLength(1);
  });

  it("is restarted after it was killed while there are processes to guard", async () => {
    const guard = make();
    const [pid] = await lead(["sleep", "300"], 0);
    guard.add(pid);
    const first = guard.pid as number;
    process.kill(first, "SIGKILL");
    const second = await settled(
      () => guard.pid,
      (own) => own !== undefined && own !== first,
    );
    expect(second).not.toBe(first);
    guard.forget(pid);
    process.kill(second as number, "SIGKILL");
    expect(
      await settled(
        () => guard.pid,
        (own) => own === undefined,
      ),
    ).toBeUndefined();
    expect(reports).toEqual([]);
  });

  it("is refused with UNSUPPORTED if there is no /proc", () => {
    const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
    Object.defineProperty(process, "platform", { ...platform, value: "darwin" });
    try {
      expect(() => createSupervisor({ onSupervisorDeath: "kill" })).toThrow(
        expect.objectContaining({ code: "UNSUPPORTED", data: { what: "onSupervisorDeath" } }),
      );
    } finally {
      Object.defineProperty(process, "platform", platform);
    }
  });
});
