// However a command is ended: processes that only have its streams open survive, older or younger than it, and those it started
// are ended. Each way to end a command is tried with all of them at once.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { connect, createSupervisor, type Process, type RemoteBackend, type Supervisor } from "../../lib/index.ts";
import { lacking } from "../../scripts/prerequisites.mjs";
import { end, printed } from "../support/outcome.ts";
import { bash } from "../support/programs.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { type HostedServer, makeSurroundings } from "../support/system-server.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";
import { curiousShell, master, tmux, type Unrelated } from "../support/unrelated.ts";

const scratch = makeScratch();
const user = makeSurroundings();
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };

/** Waits for a line, then prints four pids: a background job, two daemons, the second with closed streams, and itself. */
const OURS = `
read line
trap '' HUP
sleep 1000 & echo $!
(setsid sh -c 'echo $$; exec sleep 1000' &)
(setsid sh -c 'echo $$; exec sleep 1000 <&- >&- 2>&-' &)
echo $$; wait`;

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** The commands to end, and the processes that must survive or end with them. */
interface Scene {
  readonly processes: readonly Process[];
  readonly unrelated: readonly number[];
  readonly ours: readonly number[];
}

/** Starts commands, and the other processes that have their streams open. */
async function setScene(backend: Supervisor | RemoteBackend, timeoutMs?: number): Promise<Scene> {
  const spec = { env, ...(timeoutMs !== undefined && { timeoutMs }) };
  const pair = (): Unrelated[] => [master(scratch(uniqueName("s"))), tmux(scratch(uniqueName("t")))];
  const [older, younger] = [pair(), pair()];
  const all = [...older, ...younger];
  const begin = async (each: Unrelated) => {
    await each.begin();
    ended.push(() => each.end());
  };
  await Promise.all(older.map(begin));
  const processes = await Promise.all(all.map(({ client, tty }) => backend.start({ ...spec, argv: client, tty })));
  await Promise.all(younger.map(begin));
  for (const process of processes) await printed(process, "ready");
  const origin = await backend.start({ ...spec, argv: bash(OURS), pipeStdin: true });
  await origin.write("\n");
  const ours = numbersIn(await printed(origin, /(\d+\s+){4}/));
  ended.push(() => endDetached(...ours));
  const shell = await curiousShell(origin.info.pid as number);
  ended.push(() => shell.end());
  const unrelated = [...all, shell].flatMap((each) => each.pids());
  expect(unrelated).toHaveLength(10);
  expect([...unrelated, ...ours].filter((pid) => !isAlive(pid))).toEqual([]);
  return { processes: [...processes, origin], unrelated, ours };
}

async function serve(
  ...args: readonly string[]
): Promise<{ readonly server: HostedServer; readonly client: RemoteBackend }> {
  const server = await user.serve(args);
  const token = readFileSync(user.file(`token-${server.child.pid}`), "utf8").trim();
  const client = await connect(server.url, { token, limits: { recoveryMs: 1000 } });
  ended.push(() => client.close());
  return { server, client };
}

function supervise(): Supervisor {
  const supervisor = createSupervisor();
  ended.push(() => supervisor.close({ graceMs: 0 }));
  return supervisor;
}

async function checkEnd({ unrelated, ours }: Scene): Promise<void> {
  await allGone(...ours);
  expect(unrelated.filter((pid) => !isAlive(pid))).toEqual([]);
}

const terminateAll = ({ processes }: Scene, graceMs: number) =>
  Promise.all(processes.map((process) => process.terminate({ scope: "tree", graceMs })));

(lacking("tmux", "python3").length > 0 ? describe.skip : describe)(
  "processes that have only got the streams of a command live on",
  () => {
    it.each([0, 500])("when its tree is terminated, with a grace of %i ms", async (graceMs) => {
      const scene = await setScene(supervise());
      await terminateAll(scene, graceMs);
      await checkEnd(scene);
      // And they do not keep it from being closed.
      await Promise.all(scene.processes.map(end));
      expect(scene.unrelated.filter((pid) => !isAlive(pid))).toEqual([]);
    });

    it("when its tree is signalled", async () => {
      const scene = await setScene(supervise());
      await Promise.all(scene.processes.map((process) => process.signal("SIGKILL", { scope: "tree" })));
      await checkEnd(scene);
    });

    it("when its time is out", async () => {
      const scene = await setScene(supervise(), 3_000);
      await checkEnd(scene);
    });

    it("when the supervisor is closed", async () => {
      const supervisor = supervise();
      const scene = await setScene(supervisor);
      await supervisor.close({ graceMs: 500 });
      await checkEnd(scene);
    });

    it("when the session of its client ends", async () => {
      const { client } = await serve();
      const scene = await setScene(client);
      await client.close({ graceMs: 500 });
      await checkEnd(scene);
    });

    it.each(["SIGTERM", "SIGKILL"] as const)("when the server gets %s", async (signal) => {
      const { server, client } = await serve();
      const scene = await setScene(client);
      server.child.kill(signal);
      await server.ended;
      await checkEnd(scene);
    });
  },
);
