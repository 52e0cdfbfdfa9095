// Hundreds of processes at once mix up and lose no output.
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { outcome } from "../support/outcome.ts";
import { childrenOf } from "../support/system-facts.ts";

import { settled } from "../support/system-wait.ts";

const COUNT = 300;

describe.each(["posix", "portable"] as const)("with the %s spawner", (spawner) => {
  const supervisor = createSupervisor({ spawner });
  afterAll(() => supervisor.close({ graceMs: 0 }));

  it(`${COUNT} processes that run at the same time each end with their own output and code, none is left`, async () => {
    const before = childrenOf(process.pid);
    // Each waits for its input, so that all of them run before the first one ends.
    const argv = ["/bin/sh", "-c", `read line; echo "out $1 $line"; echo "err $1" >&2; exit "$2"`, "sh"];
    const started = Array.from({ length: COUNT }, (_, index) =>
      supervisor.start({ argv: [...argv, `${index}`, `${index % 200}`], pipeStdin: true }),
    );
    const processes = await Promise.all(started);
    const running = (await supervisor.list()).filter(({ state }) => state === "running").length;
    const outcomes = await Promise.all(
      processes.map(async (process, index) => {
        await process.write(`line ${index}\n`);
        return outcome(process);
      }),
    );
    await supervisor.close();
    expect(running).toBe(COUNT);
    expect(outcomes).toEqual(
      Array.from({ length: COUNT }, (_, index) => ({
        stdout: `out ${index} line ${index}\n`,
        stderr: `err ${index}\n`,
        pty: "",
        exitCode: index % 200,
        signal: null,
      })),
    );
    const left = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
    expect(await settled(left, (pids) => pids.length === 0)).toEqual([]);
  }, 60_000);
});
