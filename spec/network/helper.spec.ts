// The helper that makes network namespaces: it ends with its supervisor, and its own end is noticed by nothing but the next start.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, it } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import { describeSandbox, READ_ONLY } from "../sandbox/sandbox-host.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { end } from "../support/outcome.ts";
import { childrenOf } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";
import { allGone, findProcesses } from "../support/trees.ts";

/** The processes of the helper of a program: bubblewrap, and the helper itself. */
function helpersOf(program: number): number[] {
  const all = findProcesses("CLONE_NEWNET");
  const monitors = all.filter((pid) => childrenOf(program).includes(pid));
  return [...monitors, ...all.filter((pid) => monitors.some((monitor) => childrenOf(monitor).includes(pid)))];
}

describeSandbox("the helper for network namespaces", () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0)) await step();
  });
  const sandbox = { ...READ_ONLY, network: { mode: "managed" } } as const;
  const spec = { argv: ["/bin/true"], env: { PATH: "/usr/bin:/bin" }, sandbox };
  const open = () => {
    const supervisor = createSupervisor();
    undo.push(() => supervisor.close({ graceMs: 0 }));
    return supervisor;
  };

  it("is one for all processes, and ends with the supervisor", async () => {
    const supervisor = open();
    await Promise.all(Array.from({ length: 5 }, () => run(supervisor, spec)));
    const helpers = helpersOf(process.pid);
    expect(helpers).toHaveLength(2);
    await supervisor.close();
    await allGone(...helpers);
  });

  it("ends when it has been idle for a minute, and another one is started when it is needed", async () => {
    const clock = new FakeClock();
    const supervisor = createSupervisor({ clock });
    undo.push(() => supervisor.close({ graceMs: 0 }));
    const start = async () => end(await supervisor.start(spec));
    await start();
    const helpers = await settled(
      () => helpersOf(process.pid),
      (found) => found.length === 2,
    );
    // What is kept ready may still be on its way.
    await settled(
      () => {
        clock.advance(60_000);
        return helpersOf(process.pid);
      },
      (found) => found.length === 0,
    );
    await allGone(...helpers);
    for (let round = 0; round < 3; round += 1) await start();
    expect(helpersOf(process.pid)).toHaveLength(2);
  });

  it("is replaced when it is killed", async () => {
    const supervisor = open();
    await run(supervisor, spec);
    const [monitor = 0, ...rest] = helpersOf(process.pid);
    process.kill(monitor, "SIGKILL");
    await allGone(monitor, ...rest);
    // More than are kept ready.
    const results = await Promise.all(Array.from({ length: 5 }, () => run(supervisor, spec)));
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0]);
  });

  it("does not outlive a program that is killed", async () => {
    const argv = cliArgv("run", "--sandbox", "read-only", "--network", "managed", "--", "sh", "-c", "echo; sleep 1000");
    const program = spawn(argv[0] as string, argv.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    undo.push(() => program.kill("SIGKILL"));
    await once(program.stdout, "data");
    const helpers = await settled(
      () => helpersOf(program.pid as number),
      (found) => found.length === 2,
    );
    expect(helpers).toHaveLength(2);
    program.kill("SIGKILL");
    await allGone(...helpers);
  });
});
