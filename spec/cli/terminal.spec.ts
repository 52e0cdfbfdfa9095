// `execwire run -t` as a person uses it: in a real terminal, which a supervisor provides here.
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { cliArgv, runCli } from "../support/system-run.ts";

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

const envPolicy = { inherit: "all" } as const;
const quoted = (argv: readonly string[]) => argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
const underTerminal = (argv: readonly string[]) => supervisor.start({ argv, envPolicy, tty: { rows: 24, cols: 80 } });

describe("execwire run -t in a terminal", () => {
  it("gives the command a terminal of its own, of the same size", async () => {
    const script = "tty; test -t 0 && test -t 1 && test -t 2 && stty size";
    const outer = await underTerminal(cliArgv("run", "-t", "--", "sh", "-c", script));
    const { pty, exitCode } = await outcome(outer);
    expect(pty.replaceAll("\r", "")).toMatch(/^\/dev\/pts\/\d+\n24 80\n$/);
    expect(exitCode).toBe(0);
  });

  it("shows the command's bytes unchanged: a bare newline moves down and not to the left", async () => {
    const script = "stty -opost; printf 'a\\nb\\r\\nc'";
    const outer = await underTerminal(cliArgv("run", "-t", "--", "sh", "-c", script));
    expect(await outcome(outer)).toMatchObject({ pty: "a\nb\r\nc", exitCode: 0 });
  });

  it("passes a new size of its terminal on to the command", async () => {
    const script = "trap 'stty size; exit 5' WINCH; echo up; while :; do sleep 0.05; done";
    const outer = await underTerminal(cliArgv("run", "-t", "--", "bash", "-c", script));
    await printed(outer, /up\r+\n/);
    await outer.resize({ rows: 40, cols: 120 });
    const { pty, exitCode } = await outcome(outer);
    expect({ printed: pty.replaceAll("\r", ""), exitCode }).toEqual({ printed: "up\n40 120\n", exitCode: 5 });
  });

  it("passes on keys unchanged: Ctrl-C interrupts the command and not execwire", async () => {
    const script = "trap 'echo interrupted; exit 9' INT; echo up; while :; do sleep 0.05; done";
    const outer = await underTerminal(cliArgv("run", "-t", "--", "sh", "-c", script));
    await printed(outer, /up\r+\n/);
    await outer.write("\x03");
    const { pty, exitCode } = await outcome(outer);
    expect(pty).toContain("interrupted");
    expect(exitCode).toBe(9);
  });

  it("ends the command's input at Ctrl-D", async () => {
    const outer = await underTerminal(cliArgv("run", "-t", "--", "sh", "-c", "echo up; cat; exit 6"));
    await printed(outer, /up\r+\n/);
    await outer.write("word\r");
    await printed(outer, /word\r+\nword\r+\n/);
    await outer.write("\x04");
    expect((await exitOf(outer)).exitCode).toBe(6);
  });

  it.each([
    ["an exit", "exit 3", 3],
    ["a death by signal", "kill -9 $$", 137],
    ["a command that leaves its terminal raw", "stty raw -echo", 0],
  ])("leaves the terminal as it was, after %s", async (_name, script, code) => {
    const inner = quoted(cliArgv("run", "-t", "--", "sh", "-c", script));
    const outer = await underTerminal(["sh", "-c", `stty -a; echo "==="; ${inner}; echo "= $? ="; stty -a`]);
    const { pty } = await outcome(outer);
    const [before, between, after] = pty.replaceAll("\r", "").split(/^===\n|^= (?:\d+) =\n/m);
    expect(pty).toContain(`= ${code} =`);
    expect(between).toBe("");
    expect(after).toBe(before);
    expect(before).toContain("icanon");
  });

  it("leaves the terminal as it was when the command cannot be found", async () => {
    const inner = quoted(cliArgv("run", "-t", "--", "no-such-command"));
    const outer = await underTerminal([
      "sh",
      "-c",
      `before=$(stty -g); ${inner}; echo "$?"; test "$before" = "$(stty -g)" && echo same`,
    ]);
    const { pty } = await outcome(outer);
    expect(pty.replaceAll("\r", "")).toMatch(/^execwire: .*no-such-command.*\n127\nsame\n$/);
  });
});

describe("execwire run -t without a terminal of its own", () => {
  it("gives the command a terminal all the same", async () => {
    const ran = await runCli(["run", "-t", "--", "sh", "-c", "test -t 0 && stty size; echo err >&2; exit 2"]);
    expect(ran).toEqual({ stdout: "24 80\r\nerr\r\n", stderr: "", code: 2, signal: null });
  });

  it("types piped input into the command's terminal with -i, and ends the input", async () => {
    const ran = await runCli(["run", "-t", "-i", "--", "sh", "-c", "stty -echo; echo up; cat"], {
      input: "one\ntwo\n",
    });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout.replaceAll("\r", "")).toMatch(/one\ntwo\n$/);
  });
});
