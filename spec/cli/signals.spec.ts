// Signals sent to `execwire run` are passed on to the command.
import type { ChildProcess } from "node:child_process";
import { describe, expect, it } from "@jest/globals";
import { isAlive } from "../support/system-facts.ts";
import { runCli } from "../support/system-run.ts";

/** Calls `act` with each line that `execwire` prints. */
const onLines = (act: (line: string, child: ChildProcess) => void) => (child: ChildProcess) => {
  let open = "";
  child.stdout?.on("data", (piece: string) => {
    const lines = (open + piece).split("\n");
    open = lines.pop() as string;
    for (const line of lines) act(line, child);
  });
};

describe.each(["posix", "portable"])("execwire run with the %s spawner", (spawner) => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
    ["SIGUSR1", 138],
    ["SIGUSR2", 140],
  ] as const)("passes on %s and exits like the command", async (signal, code) => {
    const onStart = onLines((_line, child) => child.kill(signal));
    // exec: no shell that could handle the signal itself.
    const ran = await runCli(["run", "--spawner", spawner, "--", "sh", "-c", "echo up; exec sleep 300"], { onStart });
    expect(ran).toEqual({ stdout: "up\n", stderr: "", code, signal: null });
  });

  it("lets the command decide what a signal means", async () => {
    const onStart = onLines((line, child) => line === "up" && child.kill("SIGINT"));
    const script = "trap 'echo caught; exit 7' INT; echo up; while :; do sleep 0.05; done";
    const ran = await runCli(["run", "--spawner", spawner, "--", "sh", "-c", script], { onStart });
    expect(ran).toEqual({ stdout: "up\ncaught\n", stderr: "", code: 7, signal: null });
  });

  it("kills a command that ignores three SIGTERMs, and everything that it started", async () => {
    const pids: number[] = [];
    const onStart = onLines((line, child) => {
      if (/^\d+$/.test(line)) pids.push(Number(line));
      else child.kill("SIGTERM");
    });
    const script =
      "trap 'echo no' TERM; (trap '' TERM; exec sleep 300) & echo $!; echo $$; echo up; while :; do wait; done";
    const ran = await runCli(["run", "--spawner", spawner, "--", "sh", "-c", script], { onStart });
    expect({ stdout: ran.stdout.split("\n").slice(2), code: ran.code, pids: pids.length }).toEqual({
      stdout: ["up", "no", "no", ""],
      code: 137,
      pids: 2,
    });
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
