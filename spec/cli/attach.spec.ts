// `execwire attach`: replay, live output, input, and detaching; also in a real terminal of a supervisor.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { cliArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";

const user = makeSurroundings();
beforeAll(() => user.serve());

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

/** Starts a command on the server that waits for a client to attach. */
async function detached(id: string, args: readonly string[], script: string): Promise<void> {
  const ran = await user.cli(["run", "-d", "--id", id, ...args, "--", "sh", "-c", script]);
  expect(ran).toMatchObject({ stdout: `${id}\n`, code: 0 });
}

/** `execwire` in a terminal. */
const inTerminal = (...args: string[]) =>
  supervisor.start({
    argv: cliArgv(...args),
    env: { XDG_RUNTIME_DIR: user.runtimeDir },
    envPolicy: { inherit: "all" },
    tty: { rows: 30, cols: 90 },
  });

const state = async (id: string): Promise<string> => {
  const listed = JSON.parse((await user.cli(["ps", "--json"])).stdout);
  return listed.find(({ processId }: { processId: string }) => processId === id)?.state;
};

describe("execwire attach", () => {
  it("replays, continues live, passes on input, and exits with the process's exit code", async () => {
    await detached("echo", ["-i"], "echo begun; read line; echo got $line; echo err >&2; exit 5");
    const ran = await user.cli(["attach", "echo"], {
      onStart: (child) => child.stdout?.once("data", () => child.stdin?.write("word\n")),
    });
    expect(ran).toEqual({ stdout: "begun\ngot word\n", stderr: "err\n", code: 5, signal: null });
  });

  it("replays a process that has ended, with its exit code", async () => {
    await detached("ended", [], "echo out; exit 6");
    await user.cli(["wait", "ended"]);
    const expected = { stdout: "out\n", stderr: "", code: 6, signal: null };
    expect(await user.cli(["attach", "ended"])).toEqual(expected);
    expect(await user.cli(["attach", "ended", "--after-seq", "1"])).toEqual({ ...expected, stdout: "" });
  });

  it("does not end the process's input when its own ends", async () => {
    await detached("patient", ["-i"], "read a; read b; echo $a $b");
    const [first, second] = [user.cli(["attach", "patient"], { input: "one\n" }), user.cli(["attach", "patient"])];
    await user.cli(["write", "-n", "patient", "two"]);
    const words = (await Promise.all([first, second])).map((ran) => ran.stdout.trim().split(" ").sort().join(" "));
    expect(words).toEqual(["one two", "one two"]);
  });

  it("passes on Ctrl-C, but not with --read-only", async () => {
    await detached("deaf", [], "trap 'exit 4' INT; echo up; while :; do sleep 0.05; done");
    const watching = await user.cli(["attach", "--read-only", "deaf"], {
      onStart: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
    });
    expect([watching.signal, await state("deaf")]).toEqual(["SIGINT", "running"]);
    const acting = await user.cli(["attach", "deaf"], {
      onStart: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
    });
    expect(acting.code).toBe(4);
  });

  it("reports that there is no such process, and how to list them", async () => {
    expect(await user.cli(["attach", "nobody"])).toEqual({
      stdout: "",
      stderr: expect.stringMatching(/^execwire: .*nobody.*; list the processes with: execwire ps\n$/),
      code: 66,
      signal: null,
    });
  });
});

describe("execwire attach in a terminal", () => {
  it("gives the process's terminal its own size, and passes on keys", async () => {
    await detached("sized", ["-t"], "trap 'stty size; exit 3' INT; echo up; while :; do sleep 0.05; done");
    const outer = await inTerminal("attach", "sized");
    await printed(outer, /up\r*\n/);
    await outer.write("\x03");
    const { pty, exitCode } = await outcome(outer);
    expect({ exitCode, size: /\d+ \d+/.exec(pty)?.[0] }).toEqual({ exitCode: 3, size: "30 90" });
  });

  it("detaches with Ctrl-P Ctrl-Q and restores the terminal, and the process continues", async () => {
    await detached("left", ["-t"], "echo up; read line; exit 8");
    const argv = cliArgv("attach", "left").map((word) => `'${word}'`);
    const script = `before=$(stty -g); ${argv.join(" ")}; echo "= $?"; test "$before" = "$(stty -g)" && echo restored`;
    const outer = await supervisor.start({
      argv: ["sh", "-c", script],
      env: { XDG_RUNTIME_DIR: user.runtimeDir },
      envPolicy: { inherit: "all" },
      tty: true,
    });
    await printed(outer, /up\r*\n/);
    await outer.write("\x10");
    await outer.write("\x11");
    const { pty } = await outcome(outer);
    expect(pty).toMatch(/detached, the process keeps running; to return: execwire attach left/);
    expect(pty.replaceAll("\r", "")).toMatch(/= 0\nrestored\n$/);
    expect(await state("left")).toBe("running");
    await user.cli(["write", "left", "\r"]);
    expect(await user.cli(["wait", "left"])).toMatchObject({ code: 8 });
  });

  it("passes on a Ctrl-P that no Ctrl-Q follows", async () => {
    await detached("keys", ["-t"], "stty raw -echo; echo up; head -c 2 | od -An -tx1");
    const outer = await inTerminal("attach", "keys");
    await printed(outer, /up/);
    await outer.write("\x10");
    await outer.write("a");
    const { pty, exitCode } = await outcome(outer);
    expect({ exitCode, keys: /10 61/.exec(pty)?.[0] }).toEqual({ exitCode: 0, keys: "10 61" });
  });

  it("ends the input of a process without a terminal at Ctrl-D", async () => {
    await detached("piped", ["-i"], "echo up; cat; exit 2");
    const outer = await inTerminal("attach", "piped");
    await printed(outer, /up\r*\n/);
    await outer.write("\x04");
    expect((await exitOf(outer)).exitCode).toBe(2);
  });
});
