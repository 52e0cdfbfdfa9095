// After five hundred processes this program has the same resources as before.
import { describe, expect, it } from "@jest/globals";
import { lastValueFrom } from "rxjs";
import { createSupervisor, type ProcessSpec, type Supervisor } from "../../lib/index.ts";
import { openDescriptors, threads, zombies } from "../support/system-facts.ts";
import { settled } from "../support/system-wait.ts";

const env = { PATH: "/usr/bin:/bin" };
const KINDS: ProcessSpec[] = [
  { argv: ["true"], env },
  { argv: ["cat"], env, pipeStdin: true },
  { argv: ["true"], env, tty: true },
  { argv: ["sh", "-c", "echo out; kill -9 $$"], env, merge: true },
  { argv: ["/no/such/program"], env },
];

/** Everything that a process could leave behind in this program. */
function holdings() {
  return {
    descriptors: openDescriptors(),
    threads: threads(),
    zombies: zombies().length,
    childListeners: process.listenerCount("SIGCHLD"),
    exitListeners: process.listenerCount("exit"),
  };
}

/** Handles that did not exist before, by name. */
function newHandles(before: readonly string[]): string[] {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((name) => {
    const index = known.indexOf(name);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

async function startAndEnd(supervisor: Supervisor, spec: ProcessSpec): Promise<void> {
  const process = await supervisor.start(spec).catch(() => undefined);
  if (!process) return;
  if (spec.pipeStdin) await process.closeStdin();
  await lastValueFrom(process.closed$);
}

describe.each(["posix", "portable"] as const)("with the %s spawner", (spawner) => {
  it("500 processes of every kind leave no descriptor, thread, zombie, handle or listener behind", async () => {
    // The first ones create what stays: the C library's binding, the threads of the pool, the child watcher.
    const first = createSupervisor({ spawner });
    for (let count = 0; count < 10; count += 1) await Promise.all(KINDS.map((spec) => startAndEnd(first, spec)));
    await first.close();
    const before = holdings();
    const handles = process.getActiveResourcesInfo();

    const supervisor = createSupervisor({ spawner });
    for (let count = 0; count < 100; count += 1) await Promise.all(KINDS.map((spec) => startAndEnd(supervisor, spec)));
    await supervisor.close();

    const same = (now: typeof before) => JSON.stringify(now) === JSON.stringify(before);
    expect(await settled(holdings, same, 5_000)).toEqual(before);
    expect(
      await settled(
        () => newHandles(handles),
        (found) => found.length === 0,
        5_000,
      ),
    ).toEqual([]);
    expect(await supervisor.list()).toEqual([]);
  }, 60_000);
});
