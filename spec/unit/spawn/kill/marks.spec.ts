// Which child a process descends from, by the mark that it inherited: with real processes, and overlapping spawns.
import { type ChildProcess, spawn as spawnForeign, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { reapOwn } from "../../../../lib/spawn/kill/foreign-children.ts";
import { Marks } from "../../../../lib/spawn/kill/marks.ts";
import { Libc } from "../../../../lib/spawn/posix/libc.ts";
import { childrenOf } from "../../../support/system-facts.ts";
import { settled } from "../../../support/system-wait.ts";
import { allGone, endDetached, findProcesses } from "../../../support/trees.ts";

const libc = new Libc();
const nowhere = openSync("/dev/null", "r+");
const ours: number[] = [];
const others: number[] = [];
let daemons = 0;

async function spawn(script: string): Promise<number> {
  const [env, descriptors] = [["PATH=/usr/bin:/bin"], { stdin: "/dev/null", stdout: nowhere, stderr: nowhere }];
  const argv = ["sh", "-c", script];
  const pid = await libc.spawn({ file: "/bin/sh", argv, env, cwd: "/", inheritFds: [], ...descriptors });
  ours.push(pid);
  return pid;
}

/** Spawns a shell that starts a daemon and exits. */
async function spawnDaemon(): Promise<{ readonly shell: number; readonly daemon: number }> {
  daemons += 1;
  const command = `sleep\x00300.0${process.pid}${daemons}`;
  const shell = await spawn(`(setsid ${command.replace("\x00", " ")} &)`);
  await allGone(shell);
  const [daemon] = await settled(
    () => findProcesses(command),
    (found) => found.length === 1,
  );
  others.push(daemon as number);
  return { shell, daemon: daemon as number };
}

/** The children from which these descend, as soon as all are known. */
function ownersOf(marks: Marks, ...pids: readonly number[]): Promise<(number | undefined)[]> {
  return settled(
    () => pids.map((pid) => marks.ownerOf(pid)),
    (owners) => owners.every((owner) => owner !== undefined),
  );
}

/** Children left by an earlier spec file would look like those of another part of the program. */
beforeAll(async () => {
  const left = await settled(
    () => childrenOf(process.pid),
    (children) => children.length === 0,
  );
  expect(left).toEqual([]);
});
afterEach(async () => {
  await endDetached(...others.splice(0), ...ours);
  for (const pid of ours.splice(0)) reapOwn(libc, pid);
});

describe.each(["none", "any"] as const)("marks, with other children in the program: %s", (beside) => {
  it("identify a child until it is removed, and leave our own limit unchanged", async () => {
    const before = libc.lockLimits(0);
    const marks = new Marks(libc, beside);
    const spawns = [marks.beginSpawn(), marks.beginSpawn()] as const;
    const children = [await spawn("exec sleep 300"), await spawn("exec sleep 300")] as const;
    marks.endSpawn(spawns[0], children[0]);
    marks.endSpawn(spawns[1], children[1]);
    expect(libc.lockLimits(0)).toEqual(before);
    expect(await ownersOf(marks, ...children)).toEqual(children);
    expect(marks.ownerOf(process.pid)).toBe(undefined);
    marks.forget(children[0]);
    expect(children.map((pid) => marks.ownerOf(pid))).toEqual([undefined, children[1]]);
  });

  it("identify descendants that a child starts before its pid is known", async () => {
    const marks = new Marks(libc, beside);
    const pending = marks.beginSpawn();
    const shell = await spawn("setsid sleep 300 & wait");
    const [started] = await settled(
      () => childrenOf(shell),
      (children) => children.length === 1,
    );
    others.push(started as number);
    marks.endSpawn(pending, shell);
    expect(marks.ownerOf(started as number)).toBe(shell);
  });

  it("identify a daemon whose parents have ended, if its parent was marked before", async () => {
    const marks = new Marks(libc, beside);
    const pending = marks.beginSpawn();
    const { shell, daemon } = await spawnDaemon();
    marks.endSpawn(pending, shell);
    expect(marks.ownerOf(daemon)).toBe(shell);
    marks.forget(shell);
    expect(marks.ownerOf(daemon)).toBe(undefined);
  });
});

describe("inherited marks", () => {
  it("identify no child if two have the same, and never the wrong one", async () => {
    const marks = new Marks(libc, "none");
    const spawns = [marks.beginSpawn(), marks.beginSpawn()] as const;
    // Both are spawned with the mark of the second spawn.
    const first = await spawnDaemon();
    const second = await spawnDaemon();
    const third = await spawn("exec sleep 300");
    marks.endSpawn(spawns[1], second.shell);
    // The first child may have it as well, as long as its spawn is pending.
    expect([second.daemon, first.shell, third].map((pid) => marks.ownerOf(pid))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    marks.endSpawn(spawns[0], first.shell);
    expect(await ownersOf(marks, first.shell, second.shell)).toEqual([first.shell, second.shell]);
    expect([first.daemon, second.daemon].map((pid) => marks.ownerOf(pid))).toEqual([undefined, undefined]);
    // It may descend from either, and from no third child.
    const mayDescend = (pid: number) => [first.shell, second.shell, third].map((child) => marks.mayDescend(pid, child));
    expect([first.daemon, second.daemon, process.pid].map(mayDescend)).toEqual([
      [true, true, false],
      [true, true, false],
      [false, false, false],
    ]);
    marks.forget(second.shell);
    expect(mayDescend(first.daemon)).toEqual([true, false, false]);
  });

  it("identify no child if one that may have had them shows another limit, like one that sets its own", async () => {
    const marks = new Marks(libc, "none");
    const spawns = [marks.beginSpawn(), marks.beginSpawn()] as const;
    const first = await spawnDaemon();
    libc.limitLocks(first.shell, { soft: 77, hard: Number.POSITIVE_INFINITY });
    const second = await spawn("exec sleep 300");
    marks.endSpawn(spawns[1], second);
    marks.endSpawn(spawns[0], first.shell);
    expect(await ownersOf(marks, second)).toEqual([second]);
    expect(marks.ownerOf(first.daemon)).toBe(undefined);
    // A limit that a program sets for itself stays.
    expect(libc.lockLimits(first.shell)?.soft).toBe(77);
  });

  it("leave our own limit unchanged also with other spawners that set theirs, whichever is notified last", async () => {
    const before = libc.lockLimits(0);
    const [inherited, given] = [new Marks(libc, "none"), new Marks(libc, "any")];
    const spawns = [inherited.beginSpawn(), given.beginSpawn()] as const;
    const children = [await spawn("exec sleep 300"), await spawn("exec sleep 300")] as const;
    inherited.endSpawn(spawns[0], children[0]);
    given.endSpawn(spawns[1], children[1]);
    expect(libc.lockLimits(0)).toEqual(before);
    expect(await ownersOf(given, ...children)).toEqual(children);
  });

  it("are not inherited by a child that is started without one", async () => {
    const marks = new Marks(libc, "none");
    const pending = marks.beginSpawn();
    const inside = marks.withoutMark(() => libc.lockLimits(0));
    const shell = await spawn("exec sleep 300");
    marks.endSpawn(pending, shell);
    expect(inside).toEqual(libc.lockLimits(0));
    expect(libc.lockLimits(shell)?.soft).toBe(pending.mark);
  });

  it("are removed once a spawn has failed", () => {
    const before = libc.lockLimits(0);
    const marks = new Marks(libc, "none");
    marks.endSpawn(marks.beginSpawn());
    expect(libc.lockLimits(0)).toEqual(before);
  });
});

describe("marks with children that the program starts without the supervisor", () => {
  const foreign: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of foreign.splice(0)) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  });

  it("identify no descendant of one that started during the spawn, and leave it its usual limit", async () => {
    const before = libc.lockLimits(0);
    const marks = new Marks(libc, "any");
    const pending = marks.beginSpawn();
    const shell = await spawn("exec sleep 300");
    const other = spawnForeign("sleep", ["300"], { stdio: "ignore" });
    foreign.push(other);
    await once(other, "spawn");
    expect(libc.lockLimits(other.pid as number)?.soft).toBe(pending.mark);
    marks.endSpawn(pending, shell);
    expect([other.pid as number, shell].map((pid) => marks.ownerOf(pid))).toEqual([undefined, shell]);
    expect(libc.lockLimits(other.pid as number)).toEqual(before);
  });

  it("identify no descendant of one that cannot be inspected, like a set-user-ID program, and started during the spawn", async () => {
    let unseen = 0;
    class Unprivileged extends Libc {
      override lockLimits(pid: number) {
        return pid === unseen ? undefined : super.lockLimits(pid);
      }
    }
    const marks = new Marks(new Unprivileged(), "any");
    const pending = marks.beginSpawn();
    const shell = await spawn("exec sleep 300");
    const other = spawnForeign("sleep", ["300"], { stdio: "ignore" });
    foreign.push(other);
    await once(other, "spawn");
    unseen = other.pid as number;
    marks.endSpawn(pending, shell);
    expect(marks.ownerOf(shell)).toBe(shell);
    // It drops its privileges.
    unseen = 0;
    expect(marks.ownerOf(other.pid as number)).toBe(undefined);
  });

  it("do not attribute what such a child left to the spawns that share them", async () => {
    const marks = new Marks(libc, "any");
    const spawns = [marks.beginSpawn(), marks.beginSpawn()] as const;
    // All are spawned with the mark of the second spawn.
    const shells = [await spawn("exec sleep 300"), await spawn("exec sleep 300")] as const;
    const other = spawnForeign("sleep", ["300"], { stdio: "ignore" });
    foreign.push(other);
    await once(other, "spawn");
    marks.endSpawn(spawns[1], shells[1]);
    marks.endSpawn(spawns[0], shells[0]);
    expect(shells.map((shell) => marks.mayDescend(other.pid as number, shell))).toEqual([false, false]);
    expect(marks.ownerOf(other.pid as number)).toBe(undefined);
  });

  it("identify no daemon of one that exited before the end of the spawn", async () => {
    const marks = new Marks(libc, "any");
    const pending = marks.beginSpawn();
    const shell = await spawn("exec sleep 300");
    daemons += 1;
    const seconds = `300.1${process.pid}${daemons}`;
    spawnSync("sh", ["-c", `(setsid sleep ${seconds} <&- >&- 2>&- &)`]);
    const [daemon] = await settled(
      () => findProcesses(`sleep\x00${seconds}`),
      (found) => found.length === 1,
    );
    others.push(daemon as number);
    expect(libc.lockLimits(daemon as number)?.soft).toBe(pending.mark);
    marks.endSpawn(pending, shell);
    expect([daemon as number, shell].map((pid) => marks.ownerOf(pid))).toEqual([undefined, shell]);
  });

  it("are not inherited from this program once their child is known, even if an older spawn is pending", async () => {
    const marks = new Marks(libc, "any");
    const spawns = [marks.beginSpawn(), marks.beginSpawn()] as const;
    const second = await spawn("exec sleep 300");
    marks.endSpawn(spawns[1], second);
    expect(libc.lockLimits(0)?.soft).not.toBe(spawns[1].mark);
    const first = await spawn("exec sleep 300");
    marks.endSpawn(spawns[0], first);
    expect(await ownersOf(marks, first, second)).toEqual([first, second]);
  });
});
