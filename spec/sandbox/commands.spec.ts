// How a command in a sandbox runs and ends: its name, environment, terminal, signals and exit code are its own.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { systemClock } from "../../lib/clock.ts";
import { SYSTEM_HELPERS } from "../../lib/sandbox/helpers.ts";
import { Sandboxes } from "../../lib/sandbox/sandboxes.ts";
import { loadSpawner } from "../../lib/spawn/load-spawner.ts";
import { outcome, printed } from "../support/outcome.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { describeSandbox, makeHost, READ_ONLY } from "./sandbox-host.ts";

describeSandbox("a command in a sandbox", () => {
  const { sh, supervisor, workspace, workspaceWrite } = makeHost();

  it("has its own name, arguments and environment, exactly", async () => {
    const argv = ["/bin/sh", "-c", 'printf "%s|" "$0" "$@"; printf "%s" "$ODD"', "zero", "a b", "", "$x", "-n", "*"];
    const env = { ODD: "a\n\"'=", LD_PRELOAD: join(workspace, "evil.so") };
    const result = await sh("", READ_ONLY, { argv, env, arg0: "-custom" });
    expect(result.stdout.text).toBe("zero|a b||$x|-n|*|a\n\"'=");
    const named = await sh("", READ_ONLY, { argv: ["/bin/sh", "-c", 'printf %s "$0"'], arg0: "-custom" });
    expect(named.stdout.text).toBe("-custom");
  });

  it.each([
    ["exit 42", 42],
    ["kill -9 $$", 137],
    ["kill -TERM $$", 143],
    ["exec /no/such", 127],
  ])("ends with its own exit code: %s", async (script, exitCode) => {
    expect(await sh(script, READ_ONLY)).toMatchObject({ exitCode });
  });

  it("sees no descriptor of ours, and no secret of its environment is in a command line", async () => {
    const env = { PATH: "/usr/bin:/bin", SECRET: uniqueName("secret") };
    const result = await sh('ls /proc/self/fd; cat /proc/*/cmdline | tr "\\0" " "', READ_ONLY, { env });
    expect(result.stdout.text).toMatch(/^0\n1\n2\n3\n/);
    expect(result.stdout.text).not.toContain(env.SECRET);
  });

  it("takes SIGTERM itself, and takes what it detached with it", async () => {
    const name = uniqueName("daemon");
    const script = `trap 'echo trapped; exit 9' TERM; setsid sh -c 'exec -a x sleep 1000; : ${name}' & echo ready; while :; do sleep 0.05; done`;
    const child = await supervisor.start({
      argv: ["/bin/sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      sandbox: READ_ONLY,
    });
    await printed(child, "ready");
    await child.terminate();
    expect(await outcome(child)).toMatchObject({ stdout: "ready\ntrapped\n", exitCode: 9 });
  });

  it("takes a signal that is meant for it alone", async () => {
    const script = "trap 'echo usr1' USR1; echo ready; read line; read line";
    const child = await supervisor.start({ argv: ["/bin/sh", "-c", script], pipeStdin: true, sandbox: READ_ONLY });
    await printed(child, "ready");
    await child.signal("SIGUSR1", { scope: "process" });
    await printed(child, "usr1");
    await child.closeStdin();
    expect(await outcome(child)).toMatchObject({ stdout: "ready\nusr1\n" });
  });

  it("has a terminal with Ctrl-C and job control, and cannot type into it", async () => {
    const script = "trap 'echo interrupted; exit 7' INT; tty >/dev/null && echo ready; while :; do sleep 0.05; done";
    const child = await supervisor.start({
      argv: ["/bin/sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      tty: true,
      sandbox: READ_ONLY,
    });
    await printed(child, "ready");
    await child.write("\u0003");
    expect(await outcome(child)).toMatchObject({ pty: expect.stringContaining("interrupted"), exitCode: 7 });
  });

  it("finds a file to write to within its limits", async () => {
    const limits = { openFiles: 64, fileBytes: 4096, coreBytes: 0, cpuSeconds: 1 };
    const result = await sh("ulimit -n; head -c 9999 /dev/zero > big", { ...workspaceWrite, limits });
    expect(result.stdout.text).toBe("64\n");
    expect(result.exitCode).not.toBe(0);
    expect(await sh("while :; do :; done", { ...READ_ONLY, limits: { cpuSeconds: 1 } })).toMatchObject({
      exitCode: 137,
    });
  });

  it("is set up by no program but the system's, whatever PATH names first", async () => {
    const fake = join(workspace, "bin");
    mkdirSync(fake);
    for (const name of ["bwrap", "env", "bash", "prlimit"]) {
      writeFileSync(join(fake, name), "#!/bin/sh\necho HOSTILE\n");
      chmodSync(join(fake, name), 0o755);
    }
    const result = await sh(
      "echo real",
      { ...READ_ONLY, limits: { coreBytes: 0 } },
      { env: { PATH: `${fake}:/usr/bin:/bin` } },
    );
    expect(result.stdout.text).toBe("real\n");
  });
});

describe("without a working sandbox", () => {
  const scratch = makeScratch();
  const spawner = loadSpawner({ spawner: "posix", subreaper: false });
  afterAll(async () => (await spawner).close());
  const launch = {
    file: "/bin/sh",
    argv: ["sh", "-c", `touch ${scratch("ran")}`],
    cwd: "/",
    env: [],
    tty: undefined,
    pipeStdin: false,
    merge: false,
    inheritFds: [],
  };
  const refusalWith = async (bubblewrap: string) => {
    const sandboxes = new Sandboxes(systemClock, { helpers: { ...SYSTEM_HELPERS, bubblewrap } });
    return refusal(sandboxes.spawn(await spawner, launch, READ_ONLY));
  };

  it("nothing is run, and the error says what to do", async () => {
    const writable = scratch("writable");
    writeFileSync(writable, "#!/bin/sh\nexit 0\n");
    chmodSync(writable, 0o777);
    for (const bubblewrap of ["/no/bwrap", writable, "/bin/false"]) {
      expect(await refusalWith(bubblewrap)).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    }
    expect(existsSync(scratch("ran"))).toBe(false);
  });
});
