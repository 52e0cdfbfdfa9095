// The number of a closed terminal is free: the process that gets it next is unrelated to the one that had it before.
import { expect } from "@jest/globals";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { allGone, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

describeBackends("a termination that outlasts its terminal", ({ needs, start }) => {
  needs("terminatesWithGrace", "findsDaemons")("spares a new process whose terminal has the same number", async () => {
    // Left behind without the terminal, and ignores SIGTERM: it is killed after the grace.
    const deaf = "trap '' TERM; setsid sleep 1000 < /dev/null > /dev/null 2>&1 & echo pid:$!:; trap - TERM; read _";
    const first = await start({ argv: sh(deaf), tty: { echo: false } });
    const [pid] = numbersIn(await printed(first, /pid:\d+:/)) as [number];
    await first.terminate({ graceMs: 1000, scope: "tree" });
    await outcome(first);
    const next = await start({ argv: sh("echo ready; read line; echo $line"), tty: { echo: false } });
    await printed(next, "ready\r\n");
    await allGone(pid);
    await next.write("alive\n");
    expect(await outcome(next)).toMatchObject({ pty: "ready\r\nalive\r\n", signal: null });
  });
});
