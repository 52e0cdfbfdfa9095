// Output that is not taken, or no longer: timeouts, signals and exits work all the same, and programs that share our stdout are
// not disturbed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import type { Process } from "../../lib/process/process.ts";
import { exitOf, printed } from "../support/outcome.ts";
import { isAlive } from "../support/system-facts.ts";
import { cliArgv, runProgram } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const user = makeSurroundings();
beforeAll(() => user.serve());

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

const FLOOD = ["--", "sh", "-c", "echo pid $$; exec yes"];

/** Runs our command line in a terminal that takes only the beginning of a flood; resolves when the flood has begun. */
async function inPausedTerminal(...args: readonly string[]): Promise<{ outer: Process; pid: number }> {
  const outer = await supervisor.start({ argv: cliArgv(...args), envPolicy: { inherit: "all" }, tty: true });
  // A lossless reader that does not read stops the terminal when the log is full.
  outer.iterate({ delivery: "lossless" });
  const [, pid] = /pid (\d+)/.exec(await printed(outer, /pid \d+\s/)) ?? [];
  return { outer, pid: Number(pid) };
}

/** Runs our command line with a pipe or socket that nobody reads; resolves with its exit code. */
async function withUnreadPipe(args: readonly string[], act?: (pid: number) => Promise<void>): Promise<number | null> {
  const [program = "", ...rest] = cliArgv(...args);
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.once("readable", () => void act?.(child.pid as number));
  const [code] = await once(child, "exit");
  child.stdout.destroy();
  return code;
}

/** A shell pipeline in which "$@" is our command line. */
const pipeline = (script: string, ...args: string[]) =>
  runProgram(["bash", "-c", script, "bash", ...cliArgv(...args)], { env: user.env });

describe("a terminal that takes no output", () => {
  it.each([[[]], [["-t"]], [["--spawner", "portable"]]])("Q24 does not hold up --timeout, with %j", async (options) => {
    const { outer, pid } = await inPausedTerminal("run", "--timeout", "1", "--grace", "0.5", ...options, ...FLOOD);
    expect((await exitOf(outer)).exitCode).toBe(124);
    expect(isAlive(pid)).toBe(false);
  });

  it("does not hold up signals", async () => {
    const { outer, pid } = await inPausedTerminal("run", "--grace", "0.5", ...FLOOD);
    await outer.signal("SIGTERM");
    expect((await exitOf(outer)).exitCode).toBe(143);
    expect(isAlive(pid)).toBe(false);
  });
});

describe("a pipe that is not read", () => {
  it("Q24 does not hold up --timeout", async () => {
    expect(await withUnreadPipe(["run", "--timeout", "1", "--grace", "0.5", ...FLOOD])).toBe(124);
    expect(await withUnreadPipe(["run", "--json", "--timeout", "1", "--grace", "0.5", ...FLOOD])).toBe(124);
  });

  it("is given up at a signal after the command's end", async () => {
    const pidFile = `${user.runtimeDir}/ended.pid`;
    const script = `echo $$ >${pidFile}; exec head -c 1000000 /dev/zero`;
    const code = await withUnreadPipe(["run", "--", "sh", "-c", script], async (wrapper) => {
      // The pid is released when the exit and the end of the output are known.
      const pid = () => readFileSync(pidFile, "utf8").trim();
      await settled(
        () => existsSync(`/proc/${pid()}`),
        (is) => !is,
        10_000,
      );
      process.kill(wrapper, "SIGTERM");
    });
    expect(code).toBe(143);
  });

  it("keeps the exit code of a timeout when its reader leaves", async () => {
    const script = `"$@" | (head -c 10 >/dev/null; while grep -q "^State:.[^Z]" /proc/"$(cat "$PIDFILE")"/status; do sleep 0.05; done); echo "\${PIPESTATUS[0]}"`;
    const pidFile = `${user.runtimeDir}/flood.pid`;
    const ran = await runProgram(
      [
        "bash",
        "-c",
        script,
        "bash",
        ...cliArgv("run", "--timeout", "1", "--", "sh", "-c", `echo $$ >${pidFile}; exec yes`),
      ],
      { env: { ...process.env, PIDFILE: pidFile } },
    );
    expect(ran.stdout).toBe("124\n");
  });
});

describe("the reader of a follower", () => {
  it.each([["logs -f"], ["attach"]])(
    "Q11 ends it with 141 when it leaves although nothing is printed: %s",
    async (command) => {
      const id = command.replace(/\W/g, "");
      await user.cli(["run", "-d", "--id", id, "--", "sh", "-c", "echo ready; exec sleep 1000"]);
      const { stdout } = await pipeline(`"$@" | grep -m1 ready; echo "\${PIPESTATUS[0]}"`, ...command.split(" "), id);
      expect(stdout).toBe("ready\n141\n");
    },
  );
});

describe("descriptors that others share", () => {
  /** Octal flags of fdinfo. */
  const FLAGS = "cat /proc/$SHARED/fdinfo/{0,1,2} | grep flags";
  const NONBLOCK = 0o4000;

  it("Q02 are not made non-blocking", async () => {
    const { stdout } = await pipeline(
      `sleep 1 | ( export SHARED=$BASHPID; "$@"; true ) 2>&1 | cat`,
      "run",
      "-i",
      "--",
      "bash",
      "-c",
      FLAGS,
    );
    const flags = stdout
      .trim()
      .split("\n")
      .map((line) => Number.parseInt(line.split(/\s+/).at(-1) as string, 8));
    expect(flags.map((each) => each & NONBLOCK)).toEqual([0, 0, 0]);
  });

  it("may be non-blocking already: nothing is lost", async () => {
    const nonBlocking = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETFL, os.O_WRONLY | os.O_NONBLOCK)";
    const { stdout } = await pipeline(
      `( python3 -c '${nonBlocking}'; "$@" ) | (sleep 0.5; wc -c)`,
      "run",
      "--",
      "head",
      "-c",
      "3000000",
      "/dev/zero",
    );
    expect(stdout.trim()).toBe("3000000");
  });
});
