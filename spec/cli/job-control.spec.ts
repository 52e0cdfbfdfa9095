// Ctrl-Z, fg and bg, as a person uses them in an interactive shell.
import { type ChildProcess, spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import type { Process } from "../../lib/process/process.ts";
import { readProcess } from "../../lib/spawn/proc/proc.ts";
import { exitOf, printed } from "../support/outcome.ts";
import { childrenOf } from "../support/system-facts.ts";
import { installedArgv, runProgram } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

const CTRL_Z = "\x1a";
/** The message of the shell, and its next prompt: what is typed before may be lost. */
const STOPPED = /Stopped .*main\.js.*\$ $/s;

/** An interactive bash, at its first prompt. */
async function openShell(): Promise<Process> {
  const shell = await supervisor.start({
    argv: ["bash", "--norc", "--noprofile", "-i"],
    envPolicy: { inherit: "all", set: { PS1: "$ " } },
    tty: true,
  });
  await printed(shell, /\$ $/);
  return shell;
}

/** Types a line, and waits for `marker` in what the shell has printed since its start. */
async function type(shell: Process, line: string, marker: string | RegExp): Promise<string> {
  await shell.write(line);
  return printed(shell, marker);
}

/** Whether it is stopped; also while it waits for a child that was stopped between vfork and exec. */
const isStopped = (pid: number, expected: boolean) =>
  settled(
    () => ["T", "D"].includes(readProcess(pid)?.state ?? ""),
    (stopped) => stopped === expected,
  );

describe.each(["posix", "portable"])("execwire run with the %s spawner in an interactive shell", (spawner) => {
  const run = installedArgv("run", "--spawner", spawner, "--").join(" ");

  it("Q09 stops with its command at Ctrl-Z, and continues with it", async () => {
    const shell = await openShell();
    const script = `trap 'echo conti''nued' CONT; echo pid $$.; while :; do sleep 0.05; done`;
    const pid = Number(
      /pid (\d+)\./.exec(await type(shell, `${run} sh -c "${script}"\n`.replace("$$", "\\$\\$"), /pid \d+\./))?.[1],
    );
    await type(shell, CTRL_Z, STOPPED);
    expect(await isStopped(pid, true)).toBe(true);
    await type(shell, "fg\n", "continued");
    expect(await isStopped(pid, false)).toBe(false);
    await type(shell, CTRL_Z, /Stopped.*continued.*Stopped .*\$ $/s);
    expect(await isStopped(pid, true)).toBe(true);
    await type(shell, "bg\n", /&\r\n.*\$ /s);
    await printed(shell, /continued.*continued/s);
    expect(await isStopped(pid, false)).toBe(false);
    await type(shell, "kill %1; wait %1; echo code $?.\n", "code 143.");
    await shell.write("exit\n");
    expect((await exitOf(shell)).exitCode).not.toBeNull();
  });

  it("stops with a command that stops itself", async () => {
    const shell = await openShell();
    await type(shell, `${run} sh -c 'kill -STOP $$; echo contin""ued'\n`, STOPPED);
    await type(shell, "fg; echo code $?.\n", /continued\r?\n.*code 0\./s);
    await shell.write("exit\n");
    await exitOf(shell);
  });

  it("gives its terminal to the command with -i, and takes it back in the background", async () => {
    const shell = await openShell();
    const script = "tty; read -r a; echo first $a; read -r b; echo second $b";
    await type(shell, `${run.replace(" --", " -i --")} sh -c '${script}'; echo code $?.\n`, /\/dev\/pts\/\d+\r/);
    await type(shell, "one\n", "first one");
    await type(shell, CTRL_Z, STOPPED);
    await type(shell, "bg\n", /&\r\n.*\$ $/s);
    // It stops again as soon as it finds itself in the background.
    const [wrapper] = childrenOf(shell.info.pid as number);
    expect(await isStopped(wrapper as number, true)).toBe(true);
    await type(
      shell,
      "while jobs %1 | grep -q Run[n]ing; do sleep 0.05; done; fg\n",
      /Stopped .*grep.*\n.*main\.js[^&\n]*\r/s,
    );
    await type(shell, "two\n", "second two");
    await shell.write("exit\n");
    await exitOf(shell);
  });

  it("has the terminal in raw mode again after a stop of -t, and the shell has its own meanwhile", async () => {
    const shell = await openShell();
    await type(shell, `${run.replace(" --", " -t --")} sh -c 'echo rea""dy; exec cat'; echo code $?.\n`, "ready");
    const [wrapper] = childrenOf(shell.info.pid as number);
    const terminal = realpathSync(`/proc/${wrapper}/fd/0`);
    const isRaw = () => spawnSync("stty", ["-F", terminal, "-a"]).stdout.includes("-isig");
    expect(isRaw()).toBe(true);
    process.kill(wrapper as number, "SIGTSTP");
    await printed(shell, STOPPED);
    expect(await settled(isRaw, (raw) => !raw)).toBe(false);
    await shell.write("fg; echo code $?.\n");
    expect(await settled(isRaw, Boolean)).toBe(true);
    await type(shell, "\x04", "code 0.");
    await shell.write("exit\n");
    await exitOf(shell);
  });

  it("leaves the terminal in the modes that it finds at its end", async () => {
    const shell = await openShell();
    const line = `${run.replace(" --", " -i --")} stty -iexten; stty -a | grep -o -e '-iex[t]en'; echo code $?.\n`;
    expect(await type(shell, line, /code \d\./)).toMatch(/-iexten\r\ncode 0\./);
    await shell.write("exit\n");
    await exitOf(shell);
  });

  it("leaves Ctrl-Z to a command in a terminal of its own", async () => {
    const shell = await openShell();
    const script = "stty -isig; echo rea''dy; dd bs=1 count=1 2>/dev/null | od -An -tx1";
    await type(shell, `${run.replace(" --", " -t --")} sh -c "${script}"; echo code $?.\n`, "ready");
    await type(shell, `${CTRL_Z}\n`, / 1a.*code 0\./s);
    await shell.write("exit\n");
    await exitOf(shell);
  });
});

describe("without a shell with job control", () => {
  it("a command that stops itself does not keep its timeout from ending it", async () => {
    const ran = await runProgram(installedArgv("run", "--timeout", "0.5", "--", "sh", "-c", "kill -STOP $$"));
    expect(ran).toMatchObject({ code: 124, stdout: "" });
  });

  it("SIGTSTP to execwire stops nothing for good", async () => {
    const onStart = (child: ChildProcess) => {
      child.stdout?.once("data", () => child.kill("SIGTSTP"));
    };
    const script = "trap 'exit 6' CONT; echo up; while :; do sleep 0.05; done";
    // A session leader: no shell could continue it.
    const ran = await runProgram(installedArgv("run", "--", "sh", "-c", script), { onStart, detached: true });
    expect(ran.code).toBe(6);
  });
});
