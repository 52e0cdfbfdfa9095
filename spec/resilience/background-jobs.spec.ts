// A command that ends leaves jobs: one in its session with closed streams, and one that it detached on purpose. The first ends
// with the supervisor and the second does not, however the supervisor ends and however long ago the command ended.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { connect, createSupervisor, type Process, type RemoteBackend, type Supervisor } from "../../lib/index.ts";
import { end, printed } from "../support/outcome.ts";
import { isAlive } from "../support/system-facts.ts";
import { runProgram, runScript, scriptArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";

const user = makeSurroundings();
const env = { PATH: "/usr/bin:/bin" };
const clients: RemoteBackend[] = [];
const left: number[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await endDetached(...left.splice(0));
});

/** Prints the pids of three jobs in its session, the last in a group of its own, and of one in a session of its own. */
const LEAVE = `
quiet() { exec "$@" <&- >&- 2>&-; }
quiet sleep 1000 & echo $!
quiet sh -c 'trap "" HUP TERM; while :; do sleep 1000; done' & echo $!
set -m; quiet sleep 1000 & echo $!; set +m
setsid sh -c 'echo $$; exec sleep 1000 <&- >&- 2>&-' &
read line`;

/** bash mistakes a socket on stdin for a remote login, and then reads the user's startup files. */
const leaving = ["/bin/bash", "--norc", "-c", LEAVE];

interface Left {
  readonly jobs: readonly number[];
  readonly detached: number;
}

async function leave(backend: Supervisor | RemoteBackend): Promise<Left & { readonly process: Process }> {
  const process = await backend.start({ argv: leaving, env, pipeStdin: true });
  const pids = numbersIn(await printed(process, /(\d+\s+){4}/));
  left.push(...pids);
  await process.closeStdin();
  await end(process);
  expect(pids.map(isAlive)).toEqual([true, true, true, true]);
  return { process, jobs: pids.slice(0, 3), detached: pids[3] as number };
}

async function checkEnd({ jobs, detached }: Left): Promise<void> {
  await allGone(...jobs);
  expect(isAlive(detached)).toBe(true);
}

describe.each(["posix", "portable"] as const)("what an ended command has left in its session (%s)", (spawner) => {
  it("ends when the supervisor is closed", async () => {
    const supervisor = createSupervisor({ spawner });
    const lefts = [await leave(supervisor), await leave(supervisor)];
    await supervisor.close({ graceMs: 100 });
    for (const each of lefts) await checkEnd(each);
  });

  it("ends when the tree of the command is terminated, also after the command was closed", async () => {
    const supervisor = createSupervisor({ spawner });
    const [first, second] = [await leave(supervisor), await leave(supervisor)];
    expect(await first.process.terminate({ scope: "tree", graceMs: 100 })).toEqual({ running: false });
    await checkEnd(first);
    expect(second.jobs.map(isAlive)).toEqual([true, true, true]);
    await supervisor.close({ graceMs: 0 });
  });

  it("ends even if it is a single job in a group of its own", async () => {
    const supervisor = createSupervisor({ spawner });
    const script = "set -m; sleep 1000 <&- >&- 2>&- & echo $!";
    const process = await supervisor.start({ argv: ["/bin/bash", "--norc", "-c", script], env });
    const [job = 0] = numbersIn(await printed(process, "\n"));
    left.push(job);
    await end(process);
    await supervisor.close({ graceMs: 0 });
    await allGone(job);
  });

  it("is not ended by a termination without a scope", async () => {
    const supervisor = createSupervisor({ spawner });
    const { process, jobs } = await leave(supervisor);
    await process.terminate({ graceMs: 0 });
    expect(jobs.map(isAlive)).toEqual([true, true, true]);
    await supervisor.close({ graceMs: 0 });
  });

  it("ends when the program exits", async () => {
    const ran = await runProgram(scriptArgv("exit-after-jobs", spawner, ...leaving));
    const pids = numbersIn(ran.stdout);
    left.push(...pids);
    expect(pids).toHaveLength(4);
    await checkEnd({ jobs: pids.slice(0, 3), detached: pids[3] as number });
  });
});

describe("commands that end right after they have started a job", () => {
  // In a program of its own: jest must not become a subreaper, which cannot be undone.
  it.each(["subreaper", "no subreaper"])(
    "leave no job behind at the end, however many start at once (%s)",
    async (mode) => {
      expect(await runScript("short-jobs", mode)).toEqual({ before: 30, after: 0 });
    },
  );
});

describe("jobs of commands on a server", () => {
  const serve = async () => {
    const server = await user.serve();
    const token = readFileSync(user.file(`token-${server.child.pid}`), "utf8").trim();
    const client = await connect(server.url, { token, limits: { recoveryMs: 1000 } });
    clients.push(client);
    return { server, client };
  };

  it.each(["SIGTERM", "SIGKILL"] as const)("end when it gets %s", async (signal) => {
    const { server, client } = await serve();
    const lefts = [await leave(client), await leave(client)];
    server.child.kill(signal);
    await server.ended;
    for (const each of lefts) await checkEnd(each);
  });

  it("end with the session of their client", async () => {
    const { client } = await serve();
    const jobs = await leave(client);
    await client.close({ graceMs: 100 });
    await checkEnd(jobs);
  });
});

describe("a supervisor of many short commands", () => {
  it("still ends the job of the first one, and drops those without jobs", async () => {
    const supervisor = createSupervisor({ limits: { closedProcesses: 8 } });
    const first = await leave(supervisor);
    const run = async () => end(await supervisor.start({ argv: ["/bin/true"] }));
    for (let started = 0; started < 1200; started += 8) await Promise.all(Array.from({ length: 8 }, run));
    await supervisor.close({ graceMs: 100 });
    await checkEnd(first);
  });
});
