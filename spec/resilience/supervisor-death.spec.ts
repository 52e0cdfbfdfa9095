// SIGKILL of the supervising program itself: it cannot act any more, yet no process is left behind.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "@jest/globals";
import { lastValueFrom } from "rxjs";
import { connect, createSupervisor, type Process, type ProcessSpec, type RemoteBackend } from "../../lib/index.ts";
import { printed } from "../support/outcome.ts";
import { childrenOf, isAlive, openDescriptors } from "../support/system-facts.ts";
import { cliArgv, scriptArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";
import { allGone, endDetached, findProcesses, numbersIn } from "../support/trees.ts";

/** Prints pids: a job in the background, one in a session of its own with a child, and its own. All of them ignore a hangup. */
const TREE = `
trap '' HUP
sleep 300 & echo $!
setsid sh -c 'sleep 300 & echo $! $$; wait' &
echo $$; wait`;
/** Prints its own pid and that of a daemon, which left session, parents and pipes; ends with its input. */
const DAEMON = `
export origin=$$
(setsid sh -c '(setsid sh -c "echo \\$origin \\$\\$; exec sleep 300 <&- >&- 2>&-" &)' &)
read line`;

const env = { PATH: "/usr/bin:/bin" };
const user = makeSurroundings();
const clients: RemoteBackend[] = [];
const left: number[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await endDetached(...left.splice(0));
});

const guardsOf = (pid: number) => findProcesses("execwire-guard").filter((guard) => childrenOf(pid).includes(guard));
/** The guard of a program that has just started its first process. */
const guardOf = async ({ pid }: { readonly pid: number }) =>
  (
    await settled(
      () => guardsOf(pid),
      (found) => found.length === 1,
    )
  )[0] as number;

/** Starts a server; returns it with a function that starts a process there that prints `count` pids. */
async function serve(...args: readonly string[]) {
  const { child, ended, url } = await user.serve(args);
  const token = readFileSync(user.file(`token-${child.pid}`), "utf8").trim();
  // After the server was killed there is nothing to wait for.
  const client = await connect(url, { token, limits: { recoveryMs: 1000 } });
  clients.push(client);
  return {
    child,
    ended,
    client,
    async start(script: string, count: number, spec: Partial<ProcessSpec> = {}): Promise<[Process, ...number[]]> {
      const process = await client.start({ argv: ["/bin/bash", "-c", script], env, ...spec });
      const pids = numbersIn(await printed(process, new RegExp(`(\\d+\\s+){${count}}`)));
      left.push(...pids);
      return [process, ...pids];
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
    },
  };
}

/** Starts a program that keeps running, and waits for its first `count` lines. */
async function startProgram(argv: readonly string[], count: number): Promise<[ChildProcess & { pid: number }, string]> {
  const child = spawn(argv[0] as string, argv.slice(1), { env: user.env, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === count) break;
  left.push(child.pid as number);
  return [child as ChildProcess & { pid: number }, lines.join("\n")];
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

describe("a server that is killed with SIGKILL", () => {
  it.each([
    ["pipes", false],
    ["a terminal", true],
  ])("leaves no process behind: none on %s, no job, and no session that one of them created", async (_on, tty) => {
    const server = await serve();
    const [, ...tree] = await server.start(TREE, 4, { tty });
    const guard = await guardOf(server.child);
    expect(tree.map(isAlive)).toEqual([true, true, true, true]);
    await server.kill();
    await allGone(...tree, guard);
  });

  it("leaves no daemon of any of its processes", async () => {
    const server = await serve();
    const [, ...tree] = await server.start(TREE, 4);
    const [, ...pids] = await server.start(DAEMON, 2, { pipeStdin: true });
    await server.kill();
    await allGone(...tree, ...pids);
  });

  it("spares a daemon of a process that has ended by itself", async () => {
    const server = await serve();
    const [origin, , daemon = 0] = await server.start(DAEMON, 2, { pipeStdin: true });
    const guard = await guardOf(server.child);
    await origin.closeStdin();
    await lastValueFrom(origin.closed$);
    // It drops the process right after it reported the end: before it answers anything else.
    await server.client.list();
    await server.kill();
    await allGone(guard);
    expect(isAlive(daemon)).toBe(true);
  });

  it("leaves its processes running with --on-death keep, which starts no guard", async () => {
    const server = await serve("--on-death", "keep");
    const [, ...tree] = await server.start(TREE, 4);
    expect(guardsOf(server.child.pid)).toEqual([]);
    await server.kill();
    expect(tree.map(isAlive)).toEqual([true, true, true, true]);
  });

  it("leaves no process even if its guard was killed before: another guard takes over", async () => {
    const server = await serve();
    const [, ...one] = await server.start(TREE, 4);
    const [, ...two] = await server.start(TREE, 4);
    const guard = await guardOf(server.child);
    process.kill(guard, "SIGKILL");
    await allGone(guard);
    const [, ...three] = await server.start(TREE, 4);
    const next = await guardOf(server.child);
    await server.kill();
    await allGone(...one, ...two, ...three, next);
  });
});

describe("a server with a guard", () => {
  it("keeps the guard when the tree of its only process is killed", async () => {
    const server = await serve();
    const [origin] = await server.start(DAEMON, 2, { pipeStdin: true });
    const guard = await guardOf(server.child);
    await origin.signal("SIGKILL", { scope: "tree" });
    await lastValueFrom(origin.closed$);
    expect(isAlive(guard)).toBe(true);
  });

  it("ends with all its processes and the guard on SIGTERM", async () => {
    const server = await serve();
    const [, ...tree] = await server.start(TREE, 4);
    const guard = await guardOf(server.child);
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await allGone(...tree, guard);
  });
});

describe("execwire run that is killed with SIGKILL", () => {
  it("leaves no process of its command", async () => {
    const [child, printed] = await startProgram(cliArgv("run", "--", "bash", "-c", TREE), 3);
    const tree = numbersIn(printed);
    left.push(...tree);
    expect(tree.map(isAlive)).toEqual([true, true, true, true]);
    await kill(child);
    await allGone(...tree);
  });
});

describe.each(["posix", "portable"] as const)("a program with the %s spawner", (spawner) => {
  const startGuarded = async (onSupervisorDeath: string, script: string) => {
    const [child, printed] = await startProgram(scriptArgv("guarded", spawner, onSupervisorDeath, script), 1);
    const { own, supervised, children } = JSON.parse(printed);
    left.push(own, supervised);
    return { child, own, supervised, guards: children.filter((pid: number) => pid !== own && pid !== supervised) };
  };

  it.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGKILL"] as const)(
    "leaves no process behind with the defaults when it ends by %s, and ends by that signal",
    async (signal) => {
      const { child, supervised, guards } = await startGuarded("default", "ulimit -c 0; sleep 300 & exec sleep 300");
      const ended = once(child, "exit");
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      await allGone(supervised, ...guards);
    },
  );

  it("has no guard if it wants none, and its processes outlive a SIGKILL", async () => {
    const { child, supervised, guards } = await startGuarded("keep", "exec sleep 300");
    expect(guards).toEqual([]);
    await kill(child);
    expect(isAlive(supervised)).toBe(true);
  });

  it("has a guard that spares children that the program started without the supervisor", async () => {
    const { child, own, supervised, guards } = await startGuarded("kill", "exec sleep 300");
    expect(guards).toEqual(guardsOf(child.pid));
    await kill(child);
    await allGone(supervised, ...guards);
    expect(isAlive(own)).toBe(true);
  });

  it("exits by itself after its last process, even with a guard", async () => {
    const { child, guards } = await startGuarded("kill", "exit 0");
    if (child.exitCode === null) await once(child, "exit");
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    expect(guards).toHaveLength(1);
    await allGone(...guards);
  });

  it("has the same resources after 50 guarded processes as before", async () => {
    const older = new Set(childrenOf(process.pid));
    const newer = () => childrenOf(process.pid).filter((pid) => !older.has(pid));
    const holdings = () => ({ descriptors: openDescriptors(), children: newer() });
    const run = async (count: number) => {
      const supervisor = createSupervisor({ spawner, onSupervisorDeath: "kill" });
      for (let started = 0; started < count; started += 1) {
        const ended = await supervisor.start({ argv: ["true"], env });
        await lastValueFrom(ended.closed$);
      }
      expect(guardsOf(process.pid)).toHaveLength(1);
      await supervisor.close();
    };
    // The first ones create what stays.
    await run(5);
    // Not only the guard: zombies of processes that have just ended are children, too.
    const before = await settled(holdings, ({ children }) => children.length === 0);
    expect(before.children).toEqual([]);
    await run(50);
    expect(await settled(holdings, (now) => JSON.stringify(now) === JSON.stringify(before), 5_000)).toEqual(before);
  });
});
