// The activity of a process whose system calls are not visible: only what the kernel function in which it sleeps proves.
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../../../lib/local/supervisor.ts";
import { findActivity } from "../../../../lib/spawn/proc/activity.ts";
import { readCommand } from "../../../../lib/spawn/proc/proc.ts";
import { finish } from "../../../../lib/spawn/proc/slices.ts";
import { waitInFunction } from "../../../../lib/spawn/proc/wait-call.ts";
import { bash, sh } from "../../../support/programs.ts";
import { makeScratch } from "../../../support/scratch.ts";
import { stdinOf } from "../../../support/stream-files.ts";
import { settled } from "../../../support/system-wait.ts";

const supervisor = createSupervisor();
const server = createServer();
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => supervisor.close({ graceMs: 0 }));
afterAll(() => void server.close());
const at = makeScratch();

const sleepsIn = (pid: number, thread = pid) => readFileSync(`/proc/${pid}/task/${thread}/wchan`, "latin1");

/** Starts it; `find` inspects it without reading system calls. */
async function begin(argv: string[], tty: boolean) {
  const process = await supervisor.start({ argv, env: { PATH: "/usr/bin:/bin" }, tty, pipeStdin: !tty });
  const pid = process.info.pid as number;
  const stdin = stdinOf(pid, tty ? "pty" : "stdin");
  const find = () => finish(findActivity(pid, stdin, (of, thread) => waitInFunction(sleepsIn(of, thread))));
  return { process, pid, find };
}

describe("without the right to see system calls", () => {
  it.each([
    ["a program that reads its pipe", ["cat"], false, "reading-stdin", "cat"],
    ["a program that reads its terminal", ["cat"], true, "reading-stdin", "cat"],
    ["a child that reads", sh("cat; true"), false, "reading-stdin", "cat"],
    ["a program that waits for children", sh("sleep 1000; true"), false, "waiting-for-children", "sleep 1000"],
    ["a busy program", sh("while :; do :; done"), false, "running", "/bin/sh -c while :; do :; done sh"],
  ])("%s is recognized", async (_what, argv, tty, state, command) => {
    const { find } = await begin(argv, tty);
    const found = await settled(find, (activity) => activity.state === state && activity.command === command);
    expect(found).toEqual({ state, pid: expect.any(Number), command });
  });

  it.each([
    ["another pipe beside its stdin", false, 'mkfifo "$1" && exec 3<> "$1" && exec cat', () => at("fifo")],
    ["another pipe instead of it", false, 'mkfifo "$1" && exec <> "$1" && exec cat', () => at("other")],
    ["a connection beside its terminal", true, "exec 3<> /dev/tcp/127.0.0.1/$1 && exec cat", portOf],
  ])(
    "a program with %s may be reading from that, so it is reported as sleeping",
    async (_what, tty, script, argument) => {
      const reads = (pid: number) => readCommand(pid) === "cat" && /pipe_read|pipe_wait|tty|woken/.test(sleepsIn(pid));
      // It reads something else only once its stdin is known here.
      const { process, pid, find } = await begin(bash(`read -r _ && ${script}`, argument()), tty);
      await process.write("\n");
      expect(await settled(() => reads(pid), Boolean)).toBe(true);
      expect(await find()).toEqual({ state: "sleeping", pid: expect.any(Number), command: "cat" });
    },
  );
});

function portOf(): string {
  return String((server.address() as AddressInfo).port);
}
