// Our terminal after a full-screen program, on every way out, and what a terminal says that the user has not typed: its end, and its
// answers to old questions.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { spawn } from "node-pty";
import { createSupervisor } from "../../lib/index.ts";
import type { Process } from "../../lib/process/process.ts";
import { outcome, printed } from "../support/outcome.ts";
import { childrenOf, isAlive } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const user = makeSurroundings();
beforeAll(() => user.serve());

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

/** What a full-screen program sets, and its end; in an order that `ScreenModes` defines. */
const FULL_SCREEN = "\\033[?1049h\\033[?1h\\033=\\033[?1003h\\033[?2004h\\033[?25l\\033[31m\\033[2;9r\\033[>1u";
const RESTORED = "\x1b[<1u\x1b[r\x1b[?1l\x1b[?1003l\x1b[?2004l\x1b[?25h\x1b>\x1b[?1049l\x1b[0m";
const PROGRAM = ["--", "sh", "-c", `printf '${FULL_SCREEN}'; echo READY; exec sleep 1000`];

const env = { XDG_RUNTIME_DIR: user.runtimeDir };

/** Starts a program on the server. */
async function detached(id: string, ...args: readonly string[]): Promise<void> {
  expect(await user.cli(["run", "-d", "--id", id, ...args])).toMatchObject({ code: 0 });
}

/** Runs our command line in a terminal, from a shell that prints the terminal's modes before and after it, and its exit code. */
function inShell(...args: readonly string[]): Promise<Process> {
  const script = 'stty -g; "$@"; code=$?; stty -g; echo "code $code"';
  const argv = ["bash", "-c", script, "bash", ...cliArgv(...args)];
  return supervisor.start({ argv, env, envPolicy: { inherit: "all" }, tty: { rows: 24, cols: 80 } });
}

/** The pid of the only child of a shell: execwire. */
const pidIn = (shell: number) => childrenOf(shell)[0] as number;

/** Whether a program has a handler for a signal. */
function catches(pid: number, signal: NodeJS.Signals): boolean {
  const [, mask = "0"] = /^SigCgt:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

/** Expects that the shell's terminal is as it was before, and that the exit code is this. */
async function expectRestored(shell: Process, code: number): Promise<void> {
  const { pty } = await outcome(shell);
  const [before, after] = pty.match(/(?:[0-9a-f]+:){10,}[0-9a-f]+/g) ?? [];
  expect(pty).toContain(RESTORED);
  expect([typeof before, after]).toEqual(["string", before]);
  expect(pty).toMatch(new RegExp(`code ${code}\\r?\\n$`));
}

describe("the terminal is restored", () => {
  beforeAll(() => detached("screen", "-t", ...PROGRAM));

  it("Q10 after detaching", async () => {
    const shell = await inShell("attach", "screen");
    await printed(shell, "READY");
    await shell.write("\x10\x11");
    await expectRestored(shell, 0);
  });

  it.each([
    ["SIGHUP", 129, ["attach"]],
    ["SIGQUIT", 131, ["attach"]],
    ["SIGTERM", 143, ["attach", "--read-only"]],
    ["SIGINT", 130, ["logs", "-f"]],
  ] as const)("at %s, by which execwire ends: %d %j", async (signal, code, args) => {
    const shell = await inShell(...args, "screen");
    await printed(shell, "READY");
    process.kill(pidIn(shell.info.pid as number), signal);
    await expectRestored(shell, code);
  });

  it.each([[[]], [["--remote"]]])("when the command is killed: run -t %j", async (options) => {
    const script = `printf '${FULL_SCREEN}'; echo READY; kill -9 $$`;
    await expectRestored(await inShell("run", ...options, "-t", "--", "sh", "-c", script), 137);
  });

  it("Q10 when the server is lost", async () => {
    const lost = await user.serve(["--auth", "none"]);
    const shell = await inShell("run", "--url", lost.url, "--recovery", "0.5", "-t", ...PROGRAM);
    await printed(shell, "READY");
    lost.child.kill("SIGKILL");
    await expectRestored(shell, 69);
  });
});

describe("a terminal that is closed", () => {
  it.each([
    ["a shell in a terminal", ["-t"], ["--", "bash"]],
    ["a program that reads a pipe", ["-i"], ["--", "cat"]],
  ])("does not end what it is attached to: %s", async (_name, options, command) => {
    const id = `shared${options.join("")}`;
    await detached(id, ...options, ...command);
    await user.cli(["write", "-n", id, "echo READY"]);
    // The window's shell ignores the hang-up, so execwire sees the end of its stdin.
    const window = spawn("bash", ["-c", 'trap : HUP; "$@"; exit', "bash", ...cliArgv("attach", id)], {
      env: { ...process.env, ...env } as Record<string, string>,
    });
    await new Promise<void>((resolve) => window.onData((data) => void (data.includes("READY") && resolve())));
    const attached = pidIn(window.pid);
    (window as unknown as { destroy(): void }).destroy();
    await settled(
      () => isAlive(attached),
      (is) => !is,
      10_000,
    );
    const listed = JSON.parse((await user.cli(["ps", "--json"])).stdout);
    expect(listed.find(({ processId }: { processId: string }) => processId === id)?.state).toBe("running");
  });
});

const SIGHUP = 1;

describe("a terminal that is closed under its program", () => {
  it.each([
    ["run", ["run", "--", "sh", "-c", "while echo READY; do sleep 0.05; done"], 129],
    ["run of a silent command", ["run", "--", "sh", "-c", "echo READY; exec sleep 1000"], 129],
    ["run -t", ["run", "-t", "--", "sh", "-c", "echo READY; exec sleep 1000"], 129],
    ["run --remote -t", ["run", "--remote", "-t", "--", "sh", "-c", "echo READY; exec sleep 1000"], 129],
    ["serve", ["serve", "--listen", "ws://127.0.0.1:0"], 0],
    ["mcp", ["mcp"], 0],
  ])("Q12 ends it without an assertion of Node: %s", async (name, args, code) => {
    const runtimeDir = mkdtempSync(join(tmpdir(), "execwire-spec-"));
    const own = name === "serve" ? { XDG_RUNTIME_DIR: runtimeDir } : env;
    const [program = "", ...rest] = cliArgv(...args);
    const window = spawn(program, rest, { env: { ...process.env, ...own } as Record<string, string> });
    const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => window.onExit(resolve));
    if (name === "mcp") await settled(() => catches(window.pid, "SIGHUP"), Boolean);
    else await new Promise<void>((resolve) => window.onData((data) => void (/READY|ws:/.test(data) && resolve())));
    (window as unknown as { destroy(): void }).destroy();
    const end = await ended;
    // By the signal itself, if the hang-up comes before the handlers: shells report 129 for both.
    if (code === 129 && end.signal === SIGHUP) return;
    expect(end).toEqual({ exitCode: code, signal: 0 });
    rmSync(runtimeDir, { recursive: true });
  });
});

describe("questions to a terminal", () => {
  const QUESTIONS = "\\033[6n\\033[c\\033]11;?\\033\\\\\\033P+q544e\\033\\\\";

  it("are not asked again in a replay, since the answer would be typed into the process", async () => {
    await detached(
      "asks",
      "-t",
      "--",
      "sh",
      "-c",
      `printf 'old${QUESTIONS}READY'; read line; printf 'new\\033[6nDONE'; exec cat`,
    );
    const attach = () =>
      supervisor.start({ argv: cliArgv("attach", "asks"), env, envPolicy: { inherit: "all" }, tty: true });
    const first = await attach();
    expect(await printed(first, "READY")).toBe("oldREADY");
    await user.cli(["write", "-n", "asks", "go"]);
    expect(await printed(first, "DONE")).toContain("new\x1b[6nDONE");
    const second = await attach();
    expect(await printed(second, "DONE")).toMatch(/^oldREADY(?:go\r\n)?newDONE$/);
  });

  it("are not asked by logs, but a pipe gets all bytes", async () => {
    await detached("asked", "-t", "--", "sh", "-c", `printf 'old${QUESTIONS}READY'`);
    await user.cli(["wait", "asked"]);
    const logs = await supervisor.start({
      argv: cliArgv("logs", "asked"),
      env,
      envPolicy: { inherit: "all" },
      tty: true,
    });
    expect((await outcome(logs)).pty).toBe("oldREADY");
    expect((await user.cli(["logs", "asked"])).stdout).toBe("old\x1b[6n\x1b[c\x1b]11;?\x1b\\\x1bP+q544e\x1b\\READY");
  });
});
