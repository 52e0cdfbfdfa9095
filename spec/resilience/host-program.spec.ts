// The program that contains the supervisor: how it exits, what its mistakes cause, and where it may not supervise.
import { describe, expect, it } from "@jest/globals";
import { isAlive } from "../support/system-facts.ts";
import { runProgram, runScript, scriptArgv } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

describe.each(["posix", "portable"])("a program with the %s spawner", (spawner) => {
  it.each([
    ["process.exit(3)", "exit", 3, ""],
    ["an uncaught exception", "throw", 1, "SyntaxError"],
    ["an unhandled rejection", "reject", 1, "nobody handles this"],
  ])("that ends by %s while processes run leaves none of them", async (_name, how, code, message) => {
    const ran = await runProgram(scriptArgv("end-with-children", spawner, how));
    const pids = ran.stdout.trim().split("\n").map(Number);
    const alive = () => pids.filter(isAlive);
    const left = await settled(alive, (found) => found.length === 0, 5_000);
    for (const pid of left) process.kill(pid, "SIGKILL");
    expect({ started: pids.length, left, code: ran.code }).toEqual({ started: 4, left: [], code });
    expect(ran.stderr).toContain(message);
  });

  it.each(["pipe", "tty"])("exits by itself after its last process, without close (%s)", async (kind) => {
    expect(await runScript("end-by-itself", spawner, kind, "echo hello; exit 4")).toEqual({
      state: "closed",
      exitCode: 4,
    });
  });

  it.each(["pipe", "tty"])("stays alive for a process that closed all of its streams (%s)", async (kind) => {
    const script = "exec <&- >&- 2>&-; sleep 0.5; exit 6";
    expect(await runScript("end-by-itself", spawner, kind, script)).toEqual({ state: "closed", exitCode: 6 });
  });

  it("survives subscribers that throw, reports them, and loses nothing for the others", async () => {
    const ran = await runProgram(scriptArgv("throwing-subscriber", spawner));
    expect({ code: ran.code, report: JSON.parse(ran.stdout) }).toEqual({ code: 0, report: { bytes: 8, exitCode: 0 } });
    for (const name of ["changes", "output", "exit"]) expect(ran.stderr).toContain(`mistake in ${name}`);
  });
});

describe("a program that has frozen the built-in objects", () => {
  it("runs processes all the same", async () => {
    expect(await runScript("frozen")).toEqual(["printed"]);
  });
});

describe("a worker thread", () => {
  it("is refused with UNSUPPORTED for every spawner", async () => {
    expect(await runScript("in-worker")).toEqual(["UNSUPPORTED", "UNSUPPORTED", "UNSUPPORTED"]);
  });
});
