// Signals: which processes they reach by scope, and which they spare, with real process trees.
import { afterEach, expect, it } from "@jest/globals";
import { end, exitOf, outcome, printed } from "../support/outcome.ts";
import { bash, fixture, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { isAlive } from "../support/system-facts.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

/** Runs in a session of its own; prints its pid. */
const daemon = "setsid sh -c 'echo $$; exec sleep 1000' &";

describeBackends("signals", ({ supports, needs, start }) => {
  const relatives: number[] = [];
  afterEach(() => endDetached(...relatives.splice(0)));

  /** Starts a script that prints the pids of its descendants, one per line; they are ended after the spec. */
  const startFamily = async (argv: readonly string[], count: number, tty = false) => {
    const process = await start({ argv, tty });
    const pids = numbersIn(await printed(process, new RegExp(`(\\d+\\r?\\n){${count}}`)));
    relatives.push(...pids);
    expect(pids.map(isAlive)).toEqual(Array.from({ length: count }, () => true));
    return { process, pids };
  };

  it("deliver SIGINT to a shell that traps it", async () => {
    const script = "trap 'printf \"signal:2\\n\"; exit 7' INT; printf 'ready\\n'; while :; do :; done";
    const process = await start({ argv: sh(script) });
    await printed(process, "ready\n");
    await process.signal("SIGINT");
    expect(await outcome(process)).toMatchObject({ stdout: "ready\nsignal:2\n", exitCode: 7, signal: null });
  });

  needs("signals").each(["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGTERM"] as const)(
    "deliver %s to a program that handles it",
    async (signal) => {
      const process = await start({ argv: fixture("on-signal.mjs", `${signal}=5`) });
      await printed(process, "ready\n");
      await process.signal(signal);
      expect(await outcome(process)).toMatchObject({ stdout: `ready\n${signal}\n`, exitCode: 5 });
    },
  );

  needs("signals")("stop a process with SIGSTOP and continue it with SIGCONT", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    await process.signal("SIGSTOP");
    await process.write("late\n");
    expect((await process.read({ waitMs: 100 })).chunks).toEqual([]);
    await process.signal("SIGCONT");
    await printed(process, "late\n");
  });

  needs("signals", "reportsSignals").each([
    ["pipes", false],
    ["a tty", true],
  ])("reach a process as soon as it has started, on %s", async (_what, tty) => {
    const signals = Array.from({ length: 20 }, async () => {
      const process = await start({ argv: ["sleep", "1000"], tty });
      await process.signal("SIGKILL");
      return (await process.read({ waitMs: 5_000 })).signal;
    });
    expect(await Promise.all(signals)).toEqual(Array(20).fill("SIGKILL"));
  });

  it("have no effect on an exited process", async () => {
    const process = await start({ argv: ["true"] });
    await exitOf(process);
    await process.signal("SIGKILL");
    await end(process);
    await process.signal("SIGKILL", { scope: "tree" });
    expect(await exitOf(process)).toMatchObject({ exitCode: 0, signal: null });
  });

  it.each(["INT", "int", "sigint"])("are named with and without SIG, in any case: %s", async (name) => {
    const process = await start({ argv: ["sleep", "1000"] });
    await process.signal(name);
    expect(await exitOf(process)).toMatchObject({ exitCode: supports.reportsSignals ? null : expect.any(Number) });
  });

  it.each(["SIGNOT", "NOT", "15", ""])(
    "are refused with the unknown name %j, and the process runs on",
    async (name) => {
      const process = await start({ argv: sh("read _"), pipeStdin: true });
      const refused = { code: "INVALID_PARAMS", data: { field: "signal" } };
      expect(await refusal(process.signal(name))).toEqual(refused);
      await process.write("\n");
      expect((await outcome(process)).exitCode).toBe(0);
    },
  );

  needs("signals", "reportsSignals")(
    "reach a background job in the process group, which is the default scope",
    async () => {
      const { process, pids } = await startFamily(sh("sleep 1000 & echo $!; wait"), 1);
      await process.signal("SIGKILL");
      await allGone(...pids);
      expect((await exitOf(process)).signal).toBe("SIGKILL");
    },
  );

  needs("signals")("reach only the process itself with scope process", async () => {
    const { process, pids } = await startFamily(sh("sleep 1000 & echo $!; wait"), 1);
    await process.signal("SIGKILL", { scope: "process" });
    await exitOf(process);
    expect(pids.map(isAlive)).toEqual([true]);
    await endDetached(...pids);
    await end(process);
  });

  needs("signals", "reportsSignals").each([
    ["pipes", false],
    ["a tty", true],
  ])("reach the jobs of a shell with job control by session, not by group, on %s", async (_name, tty) => {
    const { process, pids } = await startFamily(
      bash("set -m; trap '' HUP; sleep 1000 & echo $!; wait; read _"),
      1,
      tty,
    );
    await process.signal("SIGUSR1", { scope: "group" });
    await exitOf(process);
    expect(pids.map(isAlive)).toEqual([true]);
    await endDetached(...pids);
    const next = await startFamily(bash("set -m; sleep 1000 & echo $!; wait"), 1, tty);
    await next.process.signal("SIGKILL", { scope: "session" });
    await allGone(...next.pids);
    expect((await exitOf(next.process)).signal).toBe("SIGKILL");
  });

  needs("signals")("reach a job of an interactive shell by session", async () => {
    const process = await start({ argv: ["/bin/bash", "--norc", "--noprofile", "-i"], tty: true, env: { PS1: "> " } });
    await process.write("sleep 1000 & echo job:$!:\n");
    const [, job] = /job:(\d+):/.exec(await printed(process, /job:\d+:/)) ?? [];
    await process.terminate({ graceMs: 0, scope: "session" });
    await allGone(Number(job));
    await end(process);
  });

  needs("signals").each(["group", "session"] as const)(
    "spare a daemon in a session of its own with scope %s",
    async (scope) => {
      const { process, pids } = await startFamily(sh(`${daemon} wait`), 1);
      await process.signal("SIGKILL", { scope });
      await exitOf(process);
      expect(pids.map(isAlive)).toEqual([true]);
      await endDetached(...pids);
      await end(process);
    },
  );

  needs("signals", "reportsSignals")("reach daemons, their children and background jobs with scope tree", async () => {
    const script = `sleep 1000 & echo $!; setsid sh -c 'sleep 1000 & echo $!; echo $$; wait' & ${daemon} wait`;
    const { process, pids } = await startFamily(sh(script), 4);
    await process.signal("SIGKILL", { scope: "tree" });
    await allGone(...pids);
    expect((await exitOf(process)).signal).toBe("SIGKILL");
  });

  if (supports.findsDaemons) {
    it("reach a double-forked daemon that keeps a pipe open with scope tree", async () => {
      const { process, pids } = await startFamily(sh(`(${daemon}); read _ <&0; exec sleep 1000`), 1);
      await process.terminate({ graceMs: 0, scope: "tree" });
      await allGone(...pids);
      await end(process);
    });

    it("reach a daemon that keeps a pipe open after all other processes have exited", async () => {
      const { process, pids } = await startFamily(sh(`(${daemon})`), 1);
      await exitOf(process);
      expect(await process.terminate({ graceMs: 0, scope: "tree" })).toEqual({ running: false });
      await allGone(...pids);
      await end(process);
    });
  }

  needs("sparesDetached")(
    "of terminate spare a job that was detached on purpose, and the process closes without it",
    async () => {
      // The job prints its pid when it has a session of its own, and then closes the pipes.
      const detached = "setsid sh -c 'echo $$; exec sleep 1000 < /dev/null > /dev/null 2>&1' & wait";
      const { process, pids } = await startFamily(sh(detached), 1);
      await process.terminate({ scope: "group" });
      await end(process);
      expect(pids.map(isAlive)).toEqual([true]);
      await endDetached(...pids);
    },
  );
});
