// `execwire run` for programs: --json prints the outcome in one line, --quiet reports it by the exit code alone.
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { runCli } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

const scratch = makeScratch();

const sh = (script: string) => ["--", "sh", "-c", script];

describe("execwire run --json", () => {
  it("prints the whole outcome in one line, and ends with the command's code", async () => {
    const ran = await runCli(["run", "--json", "--id", "told", ...sh("echo out; echo err >&2; exit 3")]);
    expect(ran).toMatchObject({ stderr: "", code: 3 });
    expect(ran.stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(ran.stdout)).toEqual({
      processId: "told",
      exitCode: 3,
      signal: null,
      timedOut: false,
      aborted: false,
      exited: expect.objectContaining({ type: "exited", exitCode: 3, result: "error", reason: "exited" }),
      durationMs: expect.any(Number),
      sandboxDenied: false,
      drain: "eof",
      gaps: 0,
      stdout: { text: "out\n", encoding: "utf-8", totalBytes: 4, omittedBytes: 0 },
      stderr: { text: "err\n", encoding: "utf-8", totalBytes: 4, omittedBytes: 0 },
      aggregated: { text: "out\nerr\n", encoding: "utf-8", totalBytes: 8, omittedBytes: 0 },
    });
  });

  it("reports a timeout and exits with 124; without --timeout there is none", async () => {
    const ran = await runCli(["run", "--json", "--timeout", "0.5", "--grace", "0.2", ...sh("trap '' TERM; sleep 300")]);
    expect(ran.code).toBe(124);
    expect(JSON.parse(ran.stdout)).toMatchObject({ exitCode: 124, timedOut: true, signal: "SIGKILL" });
  });

  it("reports a death by signal, passed on or not", async () => {
    const file = scratch("up");
    // Stdin is passed on only after the signal handlers are installed.
    const onStart = async (child: ChildProcess) => {
      child.stdin?.write("go\n");
      if (await settled(() => existsSync(file), Boolean)) child.kill("SIGINT");
    };
    const [own, passed] = await Promise.all([
      runCli(["run", "--json", ...sh("kill -SEGV $$")]),
      runCli(["run", "--json", "-i", ...sh(`read _; : > ${file}; exec sleep 300`)], { onStart }),
    ]);
    expect([own?.code, JSON.parse(own?.stdout as string).signal]).toEqual([139, "SIGSEGV"]);
    expect([passed?.code, JSON.parse(passed?.stdout as string).signal]).toEqual([130, "SIGINT"]);
  });

  it("passes stdin on to the command with -i", async () => {
    const ran = await runCli(["run", "--json", "-i", "--", "wc", "-c"], { input: "12345" });
    expect(JSON.parse(ran.stdout)).toMatchObject({ exitCode: 0, stdout: { text: "5\n" } });
  });

  it("keeps the beginning and the end of much output", async () => {
    const ran = await runCli([
      "run",
      "--json",
      ...sh("printf begin; head -c 5000000 /dev/zero | tr '\\0' x; printf end"),
    ]);
    const { stdout } = JSON.parse(ran.stdout);
    expect(stdout).toMatchObject({ totalBytes: 5_000_008, omittedBytes: 5_000_008 - 1024 * 1024 });
    expect(stdout.text).toMatch(/^beginx+\n\[\.\.\. 3951432 bytes omitted \.\.\.\]\nx+end$/);
  });

  it("ends a job that keeps the output of an ended command open", async () => {
    const ran = await runCli(["run", "--json", ...sh("sleep 300 & echo $!")]);
    const { drain, stdout } = JSON.parse(ran.stdout);
    expect([ran.code, drain, isAlive(Number(stdout.text))]).toEqual([0, "idle", false]);
  });

  it("prints the usual error and no line if the command cannot be started", async () => {
    const ran = await runCli(["run", "--json", "--", "no-such-command"]);
    expect(ran).toMatchObject({ code: 127, stdout: "" });
    expect(ran.stderr).toMatch(/^execwire: .*no-such-command.*\n$/);
  });
});

describe("execwire run --quiet", () => {
  it("prints no output of the command, and exits with its code", async () => {
    const ran = await runCli(["run", "-q", ...sh("echo out; echo err >&2; exit 3")]);
    expect(ran).toEqual({ stdout: "", stderr: "", code: 3, signal: null });
  });

  it("reports why the command cannot be started", async () => {
    const ran = await runCli(["run", "--quiet", "--", "no-such-command"]);
    expect(ran.code).toBe(127);
    expect(ran.stderr).toMatch(/no-such-command/);
  });

  it.each([
    ["--json", "--quiet"],
    ["--json", "--detach"],
    ["--quiet", "--detach"],
  ])("is refused with incompatible options: %s and %s", async (one, other) => {
    const ran = await runCli(["run", one, other, "--", "true"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toMatch(/^error: .*cannot be used with/);
  });
});
