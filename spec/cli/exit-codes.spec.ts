// Exit codes of `execwire run`: the command's own, or one of ours if it has none, as with shells and timeout(1).
import { chmodSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { runCli } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

const scratch = makeScratch();

describe("execwire run", () => {
  it.each([0, 1, 3, 124, 255])("exits with the command's exit code %i", async (code) => {
    expect(await runCli(["run", "--", "sh", "-c", `exit ${code}`])).toEqual({
      stdout: "",
      stderr: "",
      code,
      signal: null,
    });
  });

  it.each([
    ["TERM", 143],
    ["KILL", 137],
    ["SEGV", 139],
    ["ABRT", 134],
  ])("exits with 128+n if SIG%s ended the command", async (name, code) => {
    const script = `ulimit -c 0; kill -${name} $$`;
    expect(await runCli(["run", "--", "sh", "-c", script])).toMatchObject({ code, stderr: "" });
  });

  it("exits with 124 after the timeout, when everything that the command started has ended", async () => {
    const script = "sleep 300 & echo $!; (setsid sleep 300 & echo $!); echo $$; wait";
    const ran = await runCli(["run", "--timeout", "0.5", "--", "sh", "-c", script]);
    const pids = ran.stdout.trim().split("\n").map(Number);
    const left = await settled(
      () => pids.filter(isAlive),
      (alive) => alive.length === 0,
      5_000,
    );
    expect({ code: ran.code, stderr: ran.stderr, started: pids.length, left }).toEqual({
      code: 124,
      stderr: "",
      started: 3,
      left: [],
    });
  });

  it("kills a command that ignores SIGTERM after the grace", async () => {
    const script = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    const ran = await runCli(["run", "--timeout", "0.3", "--grace", "0.2", "--", "sh", "-c", script]);
    expect(ran.code).toBe(124);
    expect(isAlive(Number(ran.stdout))).toBe(false);
  });

  it("exits with 127 for a command that does not exist, and names it", async () => {
    const ran = await runCli(["run", "--", "no-such-command"]);
    expect(ran).toMatchObject({ code: 127, stdout: "" });
    expect(ran.stderr).toMatch(/^execwire: .*no-such-command.*\n$/);
  });

  it("exits with 126 for a command that cannot be executed, and reports why", async () => {
    const text = scratch("text");
    writeFileSync(text, "not a program\n");
    const noProgram = scratch("no-program");
    writeFileSync(noProgram, "\x01\x02\x03");
    chmodSync(noProgram, 0o755);
    const noInterpreter = scratch("no-interpreter");
    writeFileSync(noInterpreter, "#!/no/such/interpreter\n");
    chmodSync(noInterpreter, 0o755);
    const [plain, binary, script, directory] = await Promise.all(
      [text, noProgram, noInterpreter, scratch(".")].map((path) => runCli(["run", "--", path])),
    );
    expect([plain, binary, script, directory].map((ran) => ran?.code)).toEqual([126, 126, 126, 126]);
    expect(plain?.stderr).toMatch(/^execwire: .*text is not executable.*\n$/);
    expect(binary?.stderr).toMatch(/^execwire: .*no-program has no executable format of this system.*\n$/);
    expect(script?.stderr).toMatch(/^execwire: .*\/no\/such\/interpreter.*\n$/);
    expect(directory?.stderr).toMatch(/^execwire: .* is a directory.*\n$/);
  });

  it("exits with 125 if execwire itself fails, and reports why", async () => {
    const ran = await runCli(["run", "--cwd", "/no/such/folder", "--", "true"]);
    expect(ran).toMatchObject({ code: 125, stdout: "" });
    expect(ran.stderr).toMatch(/^execwire: .*\/no\/such\/folder does not exist\n$/);
  });

  it.each([
    ["no command", ["run"]],
    ["an unknown option", ["run", "--no-such-option", "true"]],
    ["a timeout that is no number", ["run", "--timeout", "soon", "true"]],
    ["a variable without a value", ["run", "--env", "NAME", "true"]],
    ["an unknown subcommand", ["jog"]],
  ])("exits with 2 for wrong usage: %s", async (_name, args) => {
    const ran = await runCli(args);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: .+/);
  });
});
