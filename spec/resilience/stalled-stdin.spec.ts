// A child that does not read its input costs no CPU time, and delays no other process.
import { afterAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { createSupervisor, type ProcessSpec } from "../../lib/index.ts";
import { outcome } from "../support/outcome.ts";

const env = { PATH: "/usr/bin:/bin" };
const MEGABYTE = new Uint8Array(1024 * 1024).fill(0x78);
/** Share of one CPU; a busy loop uses all of it. */
const LARGEST_SHARE = 0.15;

describe.each(["posix", "portable"] as const)("with the %s spawner", (spawner) => {
  const supervisor = createSupervisor({ spawner });
  afterAll(() => supervisor.close());

  it.each<[string, Partial<ProcessSpec>]>([
    ["pipe", { pipeStdin: true }],
    ["terminal", { tty: { raw: true } }],
  ])("a full stdin (%s) uses no CPU time, and other processes still answer", async (_kind, streams) => {
    const deaf = await supervisor.start({ argv: ["sleep", "300"], env, ...streams });
    const first = await deaf.write(MEGABYTE);
    const parked = deaf.write(MEGABYTE);

    // A busy loop shows in every second; cleaning up after earlier specs in one second at most.
    let least = { share: 1, exitCode: null as number | null };
    for (let second = 0; second < 3 && least.share >= LARGEST_SHARE; second += 1) {
      const before = { wall: performance.now(), cpu: process.cpuUsage() };
      // Another process measures the second: that it ends in time is the other half of the assertion.
      const clock = await supervisor.start({ argv: ["sleep", "1"], env });
      const { exitCode } = await firstValueFrom(clock.exit$);
      const { user, system } = process.cpuUsage(before.cpu);
      least = { share: (user + system) / 1000 / (performance.now() - before.wall), exitCode };
    }

    const echo = await supervisor.start({ argv: ["cat"], env, pipeStdin: true });
    await echo.write("still here");
    await echo.closeStdin();
    const { stdout } = await outcome(echo);
    await deaf.terminate({ graceMs: 0, scope: "tree" });
    expect({ first, exit: least.exitCode, echoed: stdout, parked: await parked }).toEqual({
      first: "accepted",
      exit: 0,
      echoed: "still here",
      parked: "stdinClosed",
    });
    expect(least.share).toBeLessThan(LARGEST_SHARE);
  });

  it("a full stdin does not keep a signal from its process", async () => {
    const deaf = await supervisor.start({ argv: ["sleep", "300"], env, pipeStdin: true });
    await deaf.write(MEGABYTE);
    const parked = deaf.write(MEGABYTE);
    await deaf.signal("SIGUSR1");
    const exit = await firstValueFrom(deaf.exit$);
    expect([exit.signal, await parked]).toEqual(["SIGUSR1", "stdinClosed"]);
  });
});
