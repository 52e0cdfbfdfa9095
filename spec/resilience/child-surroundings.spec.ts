// What a child finds when it starts: default signals, streams that can be opened by name, and no descriptors of other processes.
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { outcome } from "../support/outcome.ts";
import { runProgram, scriptArgv } from "../support/system-run.ts";

const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const NOTHING = "0000000000000000";

describe.each(["posix", "portable"] as const)("a child of the %s spawner", (spawner) => {
  const supervisor = createSupervisor({ spawner });
  afterAll(() => supervisor.close());

  it.each([false, true])("ignores and blocks no signal (tty: %s)", async (tty) => {
    const argv = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"];
    const ended = await outcome(await supervisor.start({ argv, env, tty }));
    const printed = ended[tty ? "pty" : "stdout"].replaceAll("\r", "");
    expect(printed).toBe(`SigBlk:\t${NOTHING}\nSigIgn:\t${NOTHING}\n`);
  });

  it("dies of SIGPIPE when its reader is gone, as `yes | head -1` needs it", async () => {
    const argv = ["sh", "-c", "{ yes; echo $? >&2; } | head -1"];
    const ended = await outcome(await supervisor.start({ argv, env }));
    expect(ended).toMatchObject({ stdout: "y\n", stderr: "141\n" });
  });
});

describe("a child of the posix spawner", () => {
  const supervisor = createSupervisor({ spawner: "posix" });
  afterAll(() => supervisor.close());

  it("can open its own streams by name", async () => {
    const argv = ["sh", "-c", "echo out > /dev/stdout; echo err > /dev/stderr"];
    const ended = await outcome(await supervisor.start({ argv, env }));
    expect(ended).toMatchObject({ stdout: "out\n", stderr: "err\n" });
  });

  it.each([false, true])("sees no descriptor of another living child (tty: %s)", async (tty) => {
    const others = [
      await supervisor.start({ argv: ["cat"], env, pipeStdin: true }),
      await supervisor.start({ argv: ["cat"], env, tty: true }),
    ];
    const argv = ["sh", "-c", "ls /proc/$$/fd"];
    const ended = await outcome(await supervisor.start({ argv, env, tty }));
    for (const other of others) await other.terminate({ graceMs: 0 });
    expect(ended[tty ? "pty" : "stdout"].split(/\s+/)).toEqual(["0", "1", "2", ""]);
  });

  it("does not get a descriptor that the host program itself inherited", async () => {
    const [node, ...args] = scriptArgv("list-descriptors");
    const ran = await runProgram(["sh", "-c", `exec 7</dev/null; exec "$0" "$@"`, node as string, ...args]);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      stdout: { host: true, pipe: ["0", "1", "2"], tty: ["0", "1", "2"] },
      stderr: "",
      code: 0,
      signal: null,
    });
  });
});
