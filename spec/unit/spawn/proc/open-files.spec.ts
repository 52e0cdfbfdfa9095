// Which processes have the streams of a child open: names alone do not show it, and one search answers many calls.
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../../../lib/local/supervisor.ts";
import { FileSearch } from "../../../../lib/spawn/proc/child-inspector.ts";
import { findHolders, findOpenFiles, type StreamFile } from "../../../../lib/spawn/proc/open-files.ts";
import { listPids } from "../../../../lib/spawn/proc/proc.ts";
import { finish } from "../../../../lib/spawn/proc/slices.ts";
import { stdinOf } from "../../../support/stream-files.ts";
import { settled } from "../../../support/system-wait.ts";

const supervisor = createSupervisor();
afterAll(() => supervisor.close({ graceMs: 0 }));

async function reader(tty: boolean) {
  const { info } = await supervisor.start({ argv: ["/bin/cat"], tty, pipeStdin: !tty });
  const pid = info.pid as number;
  return { pid, file: stdinOf(pid, tty ? "pty" : "stdin") };
}

const holders = (file: StreamFile, leader: number) =>
  [...finish(findHolders([file], finish(findOpenFiles(listPids())), leader))].map(([pid, streams]) => [
    pid,
    ...streams,
  ]);

describe("the holders of a stream", () => {
  it.each([
    ["pipe", false, "stdin"],
    ["terminal", true, "pty"],
  ])("include a process that has the same %s open, and exclude this program", async (_what, tty, stream) => {
    const { pid, file } = await reader(tty);
    expect(holders(file, pid)).toEqual([[pid, stream]]);
  });

  it("exclude a process with a terminal of the same name in a container", async () => {
    const { pid, file } = await reader(true);
    expect(holders({ ...file, device: file.device + 1 }, pid)).toEqual([]);
  });

  it("exclude writers of a stdin and readers of an output", async () => {
    const { pid, file } = await reader(false);
    expect(holders({ ...file, stream: "stdout" }, pid)).toEqual([]);
  });
});

it("exclude this program and the guard of its processes", async () => {
  const guarded = createSupervisor({ onSupervisorDeath: "kill" });
  try {
    const process = await guarded.start({ argv: ["/bin/cat"], pipeStdin: true });
    const holders = await settled(
      () => process.holders(),
      ([first]) => first?.command === "/bin/cat",
    );
    expect(holders.map(({ pid }) => pid)).toEqual([process.info.pid]);
  } finally {
    await guarded.close({ graceMs: 0 });
  }
});

describe("a search for open files", () => {
  it("is shared by simultaneous calls, and not by calls made while it runs", async () => {
    const search = new FileSearch();
    const [first, second] = [search.find(), search.find()];
    await new Promise((resolve) => setImmediate(resolve));
    const { pid, file } = await reader(false);
    const third = search.find();
    expect(await first).toBe(await second);
    expect(await third).not.toBe(await first);
    expect([...finish(findHolders([file], await third, pid)).keys()]).toEqual([pid]);
  });
});
