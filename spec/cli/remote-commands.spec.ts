// The commands for the processes of a server: ps, logs, write, signal, stop, wait.
import { beforeAll, describe, expect, it } from "@jest/globals";
import { sha256 } from "../support/digest.ts";
import { isAlive } from "../support/system-facts.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const user = makeSurroundings();
beforeAll(() => user.serve());

const silent = { stdout: "", stderr: "", code: 0, signal: null };
const start = (id: string, script: string, ...args: string[]) =>
  user.cli(["run", "-d", "--id", id, ...args, "--", "sh", "-c", script]);
const ended = async (id: string) => (await user.cli(["wait", id])).code;
/** What a process has printed once it has printed something. */
async function firstOutput(id: string): Promise<string> {
  let stdout = "";
  while (!stdout) ({ stdout } = await user.cli(["logs", id]));
  return stdout;
}

describe("execwire ps", () => {
  it("lists the processes of a server in columns", async () => {
    await start("first", "exit 3");
    await ended("first");
    await start("second", "kill -9 $$");
    await ended("second");
    await start("third", "exec sleep 300");
    const { stdout, stderr, code } = await user.cli(["ps"]);
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
    const pid = expect.stringMatching(/^\d+$/);
    const age = expect.stringMatching(/^\d+s$/);
    expect({ stderr, code, rows: rows.slice(0, 3) }).toEqual({
      stderr: "",
      code: 0,
      rows: [
        ["ID", "STATE", "EXIT", "PID", "AGE", "COMMAND"],
        ["first", "closed", "3", pid, age, "sh -c exit 3"],
        ["second", "closed", "SIGKILL", pid, age, "sh -c kill -9 $$"],
      ],
    });
    expect(stdout).toMatch(/^third +running +\d+ +\d+s +sh -c exec sleep 300$/m);
    expect(await user.cli(["stop", "third"])).toEqual(silent);
  });

  it("shows no control characters and no right-to-left overrides of a name", async () => {
    await start("ugly", "true", "--id", "ug\x1b[31mly\u202e\n2");
    const { stdout } = await user.cli(["ps"]);
    expect(stdout).toContain("ug[31mly2  ");
    expect(stdout).not.toContain("\x1b");
    expect(stdout).not.toContain("\u202e");
  });
});

describe("execwire logs", () => {
  it("prints the retained output, each stream to its own", async () => {
    await start("logged", "echo out; sleep 0.1; echo err >&2; sleep 0.1; echo more; exit 4");
    await ended("logged");
    expect(await user.cli(["logs", "logged"])).toEqual({ ...silent, stdout: "out\nmore\n", stderr: "err\n" });
    expect(await user.cli(["logs", "--after-seq", "2", "logged"])).toEqual({ ...silent, stdout: "more\n" });
    expect(await user.cli(["logs", "-f", "--after-seq", "99", "logged"])).toEqual(silent);
  });

  it("follows with -f until the process is closed", async () => {
    await start("followed", "echo one; read line; echo two", "-i");
    const following = user.cli(["logs", "-f", "followed"], {
      onStart: (child) => child.stdout?.once("data", () => user.cli(["write", "--eof", "followed", ""])),
    });
    expect(await following).toEqual({ ...silent, stdout: "one\ntwo\n" });
  });

  it("reports lost output in one line on stderr", async () => {
    await start("long", "head -c 3000000 /dev/zero | tr '\\0' x");
    await ended("long");
    const { stdout, stderr, code } = await user.cli(["logs", "long"]);
    const lost = /^execwire: (\d+) bytes of output were lost \(events 1 to \d+ are no longer retained\)\n$/.exec(
      stderr,
    );
    expect({ code, whole: stdout.length + Number(lost?.[1]) }).toEqual({ code: 0, whole: 3_000_000 });
    const following = await user.cli(["logs", "-f", "long"]);
    expect([sha256(Buffer.from(following.stdout)), following.stderr]).toEqual([sha256(Buffer.from(stdout)), stderr]);
  });
});

describe("execwire write", () => {
  it("writes a text exactly, or as a line, and ends the input", async () => {
    await start("cat", "cat; exit 2", "-i");
    expect(await user.cli(["write", "cat", "a"])).toEqual(silent);
    expect(await user.cli(["write", "-n", "cat", "b"])).toEqual(silent);
    expect(await user.cli(["write", "--eof", "cat", "c"])).toEqual(silent);
    expect(await user.cli(["attach", "cat"])).toEqual({ ...silent, stdout: "ab\nc", code: 2 });
  });

  it("writes all of its stdin", async () => {
    await start("sum", "sha256sum", "-i");
    const input = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef");
    expect(await user.cli(["write", "--eof", "sum"], { input })).toEqual(silent);
    expect(await user.cli(["attach", "sum"])).toMatchObject({ stdout: `${sha256(input)}  -\n`, code: 0 });
  });

  it("reports why a process accepts no input", async () => {
    await start("no-stdin", "exec sleep 300");
    const ran = await user.cli(["write", "no-stdin", "text"]);
    expect(ran).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/^execwire: process no-stdin does not accept input: /),
    });
    await user.cli(["stop", "no-stdin"]);
  });
});

describe("execwire signal", () => {
  it.each(["INT", "SIGINT", "int", "2"])("accepts the name %s", async (signal) => {
    const id = `signalled-${signal}`;
    await start(id, "trap 'exit 7' INT; echo up; while :; do sleep 0.05; done");
    await firstOutput(id);
    expect(await user.cli(["signal", id, signal])).toEqual(silent);
    expect(await ended(id)).toBe(7);
  });

  it("refuses an unknown signal, and reports if nothing was signalled", async () => {
    await start("over", "true");
    await ended("over");
    expect(await user.cli(["signal", "over", "NONE"])).toMatchObject({ code: 2 });
    const late = await user.cli(["signal", "over", "INT"]);
    expect(late).toEqual({ ...silent, stderr: "execwire: process over is closed; nothing was signalled\n" });
  });
});

describe("execwire stop", () => {
  it("ends a process that ignores SIGTERM after the grace", async () => {
    await start("stubborn", "trap '' TERM; echo $$; while :; do sleep 0.1; done");
    const pid = Number(await firstOutput("stubborn"));
    expect(await user.cli(["stop", "--grace", "0.2", "stubborn"])).toEqual(silent);
    expect(isAlive(pid)).toBe(false);
    expect(await ended("stubborn")).toBe(137);
  });

  it("ends a descendant that left the group with --scope tree", async () => {
    await start("parent", "setsid sleep 300 & echo $!; wait");
    const pid = Number(await firstOutput("parent"));
    expect(await user.cli(["stop", "--scope", "tree", "--grace", "0", "parent"])).toEqual(silent);
    const isOver = await settled(
      () => !isAlive(pid),
      (is) => is,
    );
    expect(isOver).toBe(true);
  });
});

describe("execwire wait", () => {
  it.each([
    ["an exit code", "exit 9", [], 9],
    ["a signal", "kill -TERM $$", [], 143],
    ["a timeout", "sleep 300", ["--timeout", "0.2"], 124],
  ])("exits like the process: %s", async (name, script, args, code) => {
    const id = name.replace(" ", "-");
    await start(id, script, ...args);
    expect(await user.cli(["wait", id])).toEqual({ ...silent, code });
  });
});

describe("the help of execwire", () => {
  const commands = ["run", "serve", "ps", "attach", "logs", "write", "signal", "stop", "wait"];

  it.each(commands)("of `%s` has an example", async (name) => {
    const { stdout, stderr, code } = await user.cli([name, "--help"]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(stdout).toMatch(new RegExp(`\\nExamples?:\\n.*execwire ${name} `, "s"));
    expect(await user.cli(["help", name])).toMatchObject({ stdout, code: 0 });
  });

  it("of the program names every command and explains the use of two terminals", async () => {
    const { stdout } = await user.cli(["--help"]);
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(stdout).toMatch(/1\$ execwire serve .*2\$ execwire run .*2\$ execwire attach /s);
  });
});

describe("ids on the command line", () => {
  it("may be several, and shortened to a beginning that no other id has", async () => {
    await start("several-one", "exec sleep 300");
    await start("several-two", "exec sleep 300");
    expect(await user.cli(["signal", "several-o", "several-two", "INT"])).toEqual(silent);
    expect(await user.cli(["wait", "several-one", "several-two"])).toEqual({ ...silent, code: 130 });
    await start("several-three", "exec sleep 300");
    await start("several-four", "exec sleep 300");
    expect(await user.cli(["stop", "several-thr", "several-f"])).toEqual(silent);
    expect(await ended("several-four")).toBe(143);
  });

  it("that no process has, or more than one begins with, exit with 66 and leave the others to be handled", async () => {
    await start("double-one", "exec sleep 300");
    await start("double-two", "exec sleep 300");
    for (const command of [
      ["logs", "double"],
      ["wait", "no-such-id"],
      ["attach", "no-such-id"],
      ["signal", "double", "INT"],
    ]) {
      const ran = await user.cli(command);
      expect(ran).toMatchObject({ code: 66, stdout: "" });
      expect(ran.stderr).toMatch(/execwire ps\n$/);
    }
    const { code, stderr } = await user.cli(["stop", "no-such-id", "double-one", "double-two"]);
    expect(code).toBe(66);
    expect(stderr).toContain("no-such-id");
    expect(await ended("double-two")).toBe(143);
  });
});

describe("execwire stop after the end of a process", () => {
  it("lists what an ended process has left, and how to end it", async () => {
    await start("left", "sleep 300 & echo $!; exit 3");
    const pid = Number(await firstOutput("left"));
    const { stderr } = await user.cli(["stop", "left"]);
    expect(stderr).toContain(`${pid} (sleep 300); end them with: execwire stop --scope tree left`);
    expect(await user.cli(["stop", "--scope", "tree", "left"])).toMatchObject({ code: 0 });
    expect(
      await settled(
        () => isAlive(pid),
        (alive) => !alive,
      ),
    ).toBe(false);
  });
});
