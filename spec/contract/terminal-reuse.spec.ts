// The number of a terminal is free once it is closed: whoever gets it next is no relative of who had it before.
import { expect } from "@jest/globals";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { allGone, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

describeBackends("a termination that goes on after the terminal was closed", ({ needs, start }) => {
  needs("endsGently", "findsDaemons")("spares the process that has a terminal of the same number", async () => {
    // Left behind without the terminal, and deaf to SIGTERM: it is killed when the grace is over.
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
