// `execwire run` on a server: the same behaviour as a local run, over a connection that may break.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { sha256 } from "../support/digest.ts";
import { isAlive } from "../support/system-facts.ts";
import { cliArgv, runProgram } from "../support/system-run.ts";
import { type HostedServer, makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const MEGABYTES = 20;
const user = makeSurroundings();
let server: HostedServer;
beforeAll(async () => {
  server = await user.serve(["--session-ttl", "2"], { ONLY_OF_SERVER: "server" });
});

const run = (args: readonly string[], options = {}) => user.cli(["run", "--url", server.url, ...args], options);
const gone = (pid: number) =>
  settled(
    () => isAlive(pid),
    (alive) => !alive,
    5_000,
  ).then((alive) => !alive);

describe("execwire run --url", () => {
  it.each([
    [
      "an exit code",
      ["--", "sh", "-c", "echo out; echo err >&2; exit 3"],
      { stdout: "out\n", stderr: "err\n", code: 3 },
    ],
    ["a signal", ["--", "sh", "-c", "kill -TERM $$"], { stdout: "", stderr: "", code: 143 }],
    ["a timeout", ["--timeout", "0.2", "--", "sleep", "300"], { stdout: "", stderr: "", code: 124 }],
    ["a terminal", ["-t", "--", "sh", "-c", "test -t 0 && stty size"], { stdout: "24 80\r\n", stderr: "", code: 0 }],
    ["a directory", ["-C", "/usr/bin", "--", "pwd"], { stdout: "/usr/bin\n", stderr: "", code: 0 }],
  ])("passes on %s", async (_name, args, expected) => {
    expect(await run(args)).toEqual({ ...expected, signal: null });
  });

  it.each([
    ["a command that does not exist", ["--", "no-such-command"], /^execwire: .*no-such-command.*\n$/, 127],
    ["a command that cannot be executed", ["--", "/usr"], /^execwire: .*directory.*\n$/, 126],
    ["a directory relative to nothing", ["-C", "bin", "--", "pwd"], /^execwire: cwd must be an absolute path/, 125],
    ["options that are the server's", ["--grace", "1", "--", "true"], /^execwire: .*pass them to execwire serve\n$/, 2],
  ])("fails like a local run for %s", async (_name, args, stderr, code) => {
    expect(await run(args)).toEqual({ stdout: "", stderr: expect.stringMatching(stderr), code, signal: null });
  });

  it("gives the command the server's core variables and those of --env, and none of the client's", async () => {
    const script = `echo "$HOME,$A,$ONLY_OF_SERVER,$OWN"`;
    const ran = await run(["-e", "A=1", "--", "sh", "-c", script], { env: { OWN: "own" } });
    expect(ran.stdout).toBe(`${process.env.HOME},1,,\n`);
  });

  it("runs in the client's directory on the local server", async () => {
    const cwd = realpathSync(tmpdir());
    const ran = await user.cli(["run", "--remote", "--", "pwd"], { cwd });
    expect(ran).toMatchObject({ stdout: `${cwd}\n`, code: 0 });
  });

  it("passes on 3 MB of stdin and its end with -i", async () => {
    const input = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef");
    expect(await run(["-i", "--", "sha256sum"], { input })).toMatchObject({ stdout: `${sha256(input)}  -\n`, code: 0 });
  });

  it("loses nothing of 20 MB to a slow reader", async () => {
    const script = `i=0; while [ $i -lt ${MEGABYTES * 8} ]; do printf '%131072d' $i; i=$((i + 1)); done`;
    const [program = "", ...args] = cliArgv("run", "--url", server.url, "--", "bash", "-c", script);
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], env: user.env });
    const ended = once(child, "close");
    const hash = createHash("sha256");
    for await (const chunk of child.stdout) {
      hash.update(chunk);
      // The slow reader: one chunk at a time, with a pause after each.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const expected = createHash("sha256");
    for (let index = 0; index < MEGABYTES * 8; index += 1) expected.update(`${index}`.padStart(131_072));
    expect([...(await ended), hash.digest("hex")]).toEqual([0, null, expected.digest("hex")]);
  });

  it("exits silently with 141 when its reader is gone, and ends the command", async () => {
    const argv = cliArgv("run", "--url", server.url, "--", "sh", "-c", "echo $$; while :; do echo y; done");
    const script = `"$@" | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await runProgram(["bash", "-c", script, "bash", ...argv], { env: user.env });
    const [pid = 0, status] = stdout.trim().split("\n").map(Number);
    expect({ status, stderr, gone: await gone(pid) }).toEqual({ status: 141, stderr: "", gone: true });
  });

  it.each(["SIGINT", "SIGTERM", "SIGUSR1"] as const)("passes %s on to the command", async (signal) => {
    const name = signal.slice(3);
    const script = `trap 'echo ${name}; exit 9' ${name}; echo up; while :; do sleep 0.05; done`;
    const ran = await run(["--", "sh", "-c", script], {
      onStart: (child: ChildProcess) => child.stdout?.once("data", () => child.kill(signal)),
    });
    expect(ran).toMatchObject({ stdout: `up\n${name}\n`, code: 9 });
  });

  it("leaves a job that the command detached on purpose, like a local run", async () => {
    // It keeps the pipe until it has a session of its own: the command alone may end before that.
    const job = "setsid sh -c 'echo $$; exec sleep 300 </dev/null >/dev/null 2>&1' &";
    const ran = await run(["--", "sh", "-c", job]);
    const pid = Number(ran.stdout);
    const alive = isAlive(pid);
    if (alive) process.kill(pid, "SIGKILL");
    expect({ code: ran.code, alive }).toEqual({ code: 0, alive: true });
  });

  it("lets the server end the command when the client is killed", async () => {
    let pid = 0;
    const ran = await run(["--", "sh", "-c", "echo $$; exec sleep 300"], {
      onStart: (child: ChildProcess) =>
        child.stdout?.once("data", (line) => {
          pid = Number(line);
          child.kill("SIGKILL");
        }),
    });
    expect({ signal: ran.signal, gone: await gone(pid) }).toEqual({ signal: "SIGKILL", gone: true });
  });
});

describe("execwire run --detach", () => {
  it("prints the id and leaves the command running, with the given name and labels", async () => {
    const ran = await user.cli(["run", "-d", "--id", "mine", "-l", "a=b", "-l", "c=d", "--", "sleep", "300"]);
    expect(ran).toEqual({ stdout: "mine\n", stderr: "", code: 0, signal: null });
    const listed = JSON.parse((await user.cli(["ps", "--json"])).stdout);
    expect(listed.find(({ processId }: { processId: string }) => processId === "mine")).toMatchObject({
      state: "running",
      labels: { a: "b", c: "d" },
      argv: ["sleep", "300"],
    });
    expect(await user.cli(["stop", "--grace", "0", "mine"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("refuses a process id that is in use", async () => {
    const [one, two] = [
      await user.cli(["run", "-d", "--id", "same", "true"]),
      await user.cli(["run", "-d", "--id", "same", "true"]),
    ];
    expect([one.code, two.code, two.stdout]).toEqual([0, 125, ""]);
    expect(two.stderr).toMatch(/^execwire: process same already exists/);
  });
});
