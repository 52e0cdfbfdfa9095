// stdin, stdout and stderr of `execwire run`: nothing mixed up, nothing lost, and a silent exit when the reader is gone.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { cliArgv, runCli, runProgram } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

const MEGABYTES = 20;

const scratch = makeScratch();

/** Runs a shell pipeline in which "$@" is our command line with a command. */
const pipeline = (script: string, ...command: string[]) =>
  runProgram(["bash", "-c", script, "bash", ...cliArgv("run", ...command)]);

describe("execwire run", () => {
  it("keeps stdout and stderr of the command separate", async () => {
    const ran = await runCli(["run", "--", "sh", "-c", "echo out; echo err >&2; echo out again"]);
    expect(ran).toEqual({ stdout: "out\nout again\n", stderr: "err\n", code: 0, signal: null });
  });

  it("passes on stdin and its end with -i", async () => {
    const input = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef");
    const ran = await runCli(["run", "-i", "--", "sha256sum"], { input });
    const sha256 = createHash("sha256").update(input).digest("hex");
    expect(ran).toEqual({ stdout: `${sha256}  -\n`, stderr: "", code: 0, signal: null });
  });

  it("gives the command an empty stdin without -i", async () => {
    expect(await runCli(["run", "--", "cat"], { input: "not passed on" })).toMatchObject({ stdout: "", code: 0 });
  });

  it("exits with the command, even if stdin stays open", async () => {
    // This stdin is never ended.
    const onStart = () => undefined;
    expect(await runCli(["run", "-i", "--", "true"], { onStart })).toMatchObject({ code: 0, stderr: "" });
    expect(
      await runCli(["run", "-i", "--", "head", "-c", "3"], { onStart: (child) => child.stdin?.write("abcdef") }),
    ).toEqual({ stdout: "abc", stderr: "", code: 0, signal: null });
  });

  it("exits silently with 141 when its reader is gone, and ends the command", async () => {
    const script = `"$@" | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await pipeline(script, "--", "sh", "-c", "echo $$; while :; do echo y; done");
    const [pid, status] = stdout.trim().split("\n").map(Number);
    const alive = await settled(
      () => isAlive(pid as number),
      (is) => !is,
      5_000,
    );
    expect({ status, stderr, alive }).toEqual({ status: 141, stderr: "", alive: false });
  });

  it("waits for a slow reader and loses nothing of 20 MB", async () => {
    const script = `i=0; while [ $i -lt ${MEGABYTES * 8} ]; do printf '%131072d' $i; i=$((i + 1)); done`;
    const [program, ...args] = cliArgv("run", "--", "bash", "-c", script);
    const child = spawn(program as string, args, { stdio: ["ignore", "pipe", "inherit"] });
    const hash = createHash("sha256");
    // One chunk at a time, with a pause after each: the command is done long before its reader.
    for await (const chunk of child.stdout) {
      hash.update(chunk);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    const expected = createHash("sha256");
    for (let index = 0; index < MEGABYTES * 8; index += 1) expected.update(`${index}`.padStart(131_072));
    expect([code, hash.digest("hex")]).toEqual([0, expected.digest("hex")]);
  });

  it("reports that the output could not be written to a full disk, fails, and leaves nothing running", async () => {
    const pidFile = scratch("pid");
    const script = `"$@" > /dev/full; echo "$?"`;
    const command = ["sh", "-c", `echo $$ > "$1"; while :; do echo y; sleep 0.01; done`, "sh", pidFile];
    const { stdout, stderr } = await pipeline(script, "--", ...command);
    const pid = Number(readFileSync(pidFile, "utf8"));
    const alive = await settled(
      () => isAlive(pid),
      (is) => !is,
      5_000,
    );
    expect({ code: stdout, stderr, alive }).toEqual({
      code: "125\n",
      stderr: expect.stringMatching(/^execwire: cannot write to stdout: .*no space left.*\n$/),
      alive: false,
    });
  });
});
