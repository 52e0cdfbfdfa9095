// Why a process does not go on or does not close: its activity, the descendant that decides it, and the holders of its streams.
import { afterEach, expect, it } from "@jest/globals";
import type { Process } from "../../lib/process/process.ts";
import type { ActivityState, ProcessSpec } from "../../protocol/index.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { bash, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { stateOf } from "../support/system-facts.ts";
import { settled } from "../support/system-wait.ts";
import { endDetached, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

const node = (script: string) => [process.execPath, "-e", script];
const SPIN = "while :; do :; done";
const PIPE = { pipeStdin: true } as const;
const TTY = { tty: true } as const;

/** The activity of a process as soon as it is the expected one, or the last other one at the deadline. */
const activityOf = (process: Process, state: ActivityState, command: string) =>
  settled(
    () => process.activity(),
    (activity) => activity.state === state && activity.command === command,
  );

/** The holders of its streams, when there are `count` and each has become sleep: during exec it has no command line. */
const holdersOf = (process: Process, count: number) =>
  settled(
    () => process.holders(),
    (holders) => holders.length === count && holders.every(({ command }) => /^(\/bin\/)?sleep /.test(command)),
  );

describeBackends("the activity of a process", ({ supports, needs, start }) => {
  const begin = async (spec: ProcessSpec) => {
    const process = await start(spec);
    return { process, own: process.info.pid as number, stop: () => process.terminate({ graceMs: 0, scope: "tree" }) };
  };

  for (const [where, streams, ability] of [
    ["a pipe", PIPE, "facts"],
    ["a tty", TTY, "ttyFacts"],
  ] as const) {
    needs(ability).each([
      ["waits for input", ["/bin/cat"], "reading-stdin"],
      ["waits for input with a poll of stdin alone", bash("read -e line"), "reading-stdin"],
      ["waits for input or something else", node("process.stdin.resume()"), "polling-stdin"],
      ["waits for input or for some time", bash("read -t 1000 line"), "polling-stdin"],
      ["waits, but for no input", node("setTimeout(() => {}, 1e6)"), "sleeping"],
      ["sleeps", ["/bin/sleep", "1000"], "sleeping"],
      ["is busy", sh(SPIN), "running"],
      ["stopped itself", sh("kill -STOP $$"), "stopped"],
    ] as [string, string[], ActivityState][])(
      `is reported on ${where} of a process that %s`,
      async (_what, argv, state) => {
        const { process, own, stop } = await begin({ argv, ...streams, env: { PATH: "/usr/bin:/bin" } });
        expect(await activityOf(process, state, argv.join(" "))).toEqual({ state, pid: own, command: argv.join(" ") });
        await stop();
      },
    );

    needs(ability).each([
      ["waits for input", sh("cat; true"), "reading-stdin", "cat"],
      // Its own group is in the background of a terminal and may not read from it.
      [
        "is in a group of its own",
        sh("timeout 1000 cat; true"),
        where === "a tty" ? "stopped" : "reading-stdin",
        "cat",
      ],
      ["waits for input as a great-grandchild", sh("sh -c 'sh -c \"cat; :\"; :'; :"), "reading-stdin", "cat"],
      ["is busy", sh(`sh -c '${SPIN}'; true`), "running", `sh -c ${SPIN}`],
      ["is stopped", sh("sh -c 'kill -STOP $$; exit'; true"), "stopped", "sh -c kill -STOP $$; exit"],
      ["only sleeps", sh("sleep 1000; true"), "waiting-for-children", "sleep 1000"],
      ["only sleeps, in the background", sh("sleep 1000 & wait"), "waiting-for-children", "sleep 1000"],
      ["reads from another pipe than stdin", sh("sleep 1000 | cat; true"), "waiting-for-children", "sleep 1000"],
    ] as [string, string[], ActivityState, string][])(
      `names the descendant that decides it, on ${where}: it %s`,
      async (_what, argv, state, command) => {
        const { process, own, stop } = await begin({ argv, ...streams, env: { PATH: "/usr/bin:/bin" } });
        const found = await activityOf(process, state, command);
        expect(found).toEqual({ state, pid: expect.any(Number), command });
        expect(found.pid).not.toBe(own);
        await stop();
      },
    );

    needs(ability)(`follows SIGSTOP and SIGCONT, on ${where}`, async () => {
      const { process, own, stop } = await begin({ argv: ["/bin/cat"], ...streams });
      const reading = { state: "reading-stdin", pid: own, command: "/bin/cat" };
      expect(await activityOf(process, "reading-stdin", "/bin/cat")).toEqual(reading);
      await process.signal("SIGSTOP");
      expect(await activityOf(process, "stopped", "/bin/cat")).toEqual({ ...reading, state: "stopped" });
      await process.signal("SIGCONT");
      expect(await activityOf(process, "reading-stdin", "/bin/cat")).toEqual(reading);
      await stop();
    });

    needs(ability)(`is exited after the exit, on ${where}`, async () => {
      const { process } = await begin({ argv: ["true"], ...streams });
      await exitOf(process);
      expect(await process.activity()).toEqual({ state: "exited" });
      await end(process);
      expect(await process.activity()).toEqual({ state: "exited" });
    });

    if (!supports[ability]) {
      it(`is refused where the system cannot report it, on ${where}`, async () => {
        const process = await start({ argv: ["/bin/cat"], ...streams });
        expect(await refusal(process.activity())).toEqual({ code: "UNSUPPORTED", data: { what: "activity" } });
        expect(await refusal(process.holders())).toEqual({ code: "UNSUPPORTED", data: { what: "holders" } });
        await process.terminate();
        await end(process);
        expect(await refusal(process.activity())).toEqual({ code: "UNSUPPORTED", data: { what: "activity" } });
      });
    }
  }

  needs("facts")("is running when any of its threads runs", async () => {
    const work = "new worker_threads.Worker('for (;;);', { eval: true }).on('online', () => console.log('up'))";
    const { process, own, stop } = await begin({ argv: node(work) });
    await printed(process, "up\n");
    // The main thread has become idle.
    await settled(
      () => stateOf(own),
      (state) => state === "S",
    );
    expect(await process.activity()).toEqual({ state: "running", pid: own, command: node(work).join(" ") });
    await stop();
  });

  needs("ttyFacts")("is that of the foreground job of a terminal, also while background jobs are busy", async () => {
    const argv = ["/bin/bash", "--norc", "--noprofile", "-i"];
    const { process, own } = await begin({ argv, tty: true, env: { PS1: "> " } });
    await process.write(`${SPIN} & echo job:$!:\n`);
    await printed(process, /job:\d+:/);
    const found = await activityOf(process, "reading-stdin", argv.join(" "));
    expect(found).toEqual({ state: "reading-stdin", pid: own, command: argv.join(" ") });
    // A sleeping foreground job takes precedence over a busy background job.
    await process.write("sleep 1000\n");
    expect((await activityOf(process, "waiting-for-children", "sleep 1000")).state).toBe("waiting-for-children");
    await process.terminate({ graceMs: 0, scope: "session" });
    await end(process);
  });

  needs("ttyFacts")("is reading-stdin also when the program reads from /dev/tty", async () => {
    const { process, own, stop } = await begin({ argv: sh("exec cat < /dev/tty 2> /dev/null"), tty: true });
    const reading = { state: "reading-stdin", pid: own, command: "cat" };
    expect(await activityOf(process, "reading-stdin", "cat")).toEqual(reading);
    await stop();
  });
});

describeBackends("the list of holders of a process's streams", ({ needs, start }) => {
  const left: number[] = [];
  afterEach(() => endDetached(...left.splice(0)));

  /** An exited process that has left others behind, whose pids it printed. */
  const leave = async (spec: ProcessSpec) => {
    const process = await start(spec);
    const pids = numbersIn(await printed(process, /\d+\r?\n/)) as [number, ...number[]];
    left.push(...pids);
    await exitOf(process);
    return { process, pid: pids[0], pids };
  };

  needs("facts").each<[string, Partial<ProcessSpec>, string[]]>([
    ["three pipes", PIPE, ["stdin", "stdout", "stderr"]],
    ["two pipes", {}, ["stdout", "stderr"]],
    ["one pipe for both outputs", { merge: true, ...PIPE }, ["stdin", "stdout"]],
  ])("contains the process itself while it runs, on %s", async (_what, spec, streams) => {
    const process = await start({ argv: ["/bin/sleep", "1000"], ...spec });
    expect(await holdersOf(process, 1)).toEqual([{ pid: process.info.pid, command: "/bin/sleep 1000", streams }]);
    await process.terminate({ graceMs: 0 });
  });

  needs("ttyFacts")("contains a process that has opened the terminal as /dev/tty", async () => {
    const process = await start({ argv: sh("exec 3<>/dev/tty; exec sleep 1000 0<&3 >/dev/null 2>&1 3>&-"), tty: true });
    const holder = await holdersOf(process, 1);
    expect(holder).toEqual([{ pid: process.info.pid, command: "sleep 1000", streams: ["pty"] }]);
    await process.terminate({ graceMs: 0 });
  });

  needs("facts")("contains a background job that keeps stdout open after the exit", async () => {
    const { process, pid } = await leave({ argv: sh("sleep 1000 2> /dev/null & echo $!"), ...PIPE });
    expect(await holdersOf(process, 1)).toEqual([{ pid, command: "sleep 1000", streams: ["stdout"] }]);
    expect(process.info.state).not.toBe("closed");
    await endDetached(pid);
    await end(process);
    expect(await process.holders()).toEqual([]);
  });

  needs("facts")("contains a daemon in a session of its own that keeps stderr open", async () => {
    const script = "(setsid sh -c 'echo $$; exec sleep 1000 > /dev/null' &)";
    const { process, pid } = await leave({ argv: sh(script) });
    expect(await holdersOf(process, 1)).toEqual([{ pid, command: "sleep 1000", streams: ["stderr"] }]);
  });

  needs("ttyFacts")("contains a job that ignored the hangup of its terminal", async () => {
    const { process, pid } = await leave({ argv: sh("trap '' HUP; sleep 1000 & echo $!"), tty: true });
    expect(await holdersOf(process, 1)).toEqual([{ pid, command: "sleep 1000", streams: ["pty"] }]);
  });

  needs("facts")("contains all holders, in the order of their pids", async () => {
    const { process, pids } = await leave({ argv: sh("sleep 1000 & a=$!; sleep 1001 & echo $a $!") });
    const holders = pids.map((pid, i) => ({ pid, command: `sleep ${1000 + i}`, streams: ["stdout", "stderr"] }));
    expect(await holdersOf(process, 2)).toEqual(holders.sort((a, b) => a.pid - b.pid));
  });

  needs("facts", "reportsPid")(
    "does not contain an unrelated process that reads its output through /proc",
    async () => {
      const process = await start({ argv: ["/bin/sleep", "1000"] });
      const readItsOutput = sh("exec 3< /proc/$1/fd/1; echo up; exec sleep 1001", String(process.info.pid));
      const unrelated = await start({ argv: readItsOutput });
      await printed(unrelated, "up");
      expect((await holdersOf(process, 1)).map(({ command }) => command)).toEqual(["/bin/sleep 1000"]);
      for (const each of [unrelated, process]) await each.terminate({ graceMs: 0 });
    },
  );

  needs("facts")("does not contain a closed stdin", async () => {
    const process = await start({ argv: ["/bin/sleep", "1000"], ...PIPE });
    await process.closeStdin();
    const holders = await settled(
      () => process.holders(),
      ([first]) => first?.streams.length === 2 && first.command === "/bin/sleep 1000",
    );
    expect(holders).toEqual([{ pid: process.info.pid, command: "/bin/sleep 1000", streams: ["stdout", "stderr"] }]);
    await process.terminate({ graceMs: 0 });
  });

  needs("facts")("is empty when the process has closed", async () => {
    const process = await start({ argv: ["true"], ...PIPE });
    await end(process);
    expect(await process.holders()).toEqual([]);
  });
});
