// The hard parts of reading /proc: command names are free text in the middle of a line of fields.
import { symlinkSync } from "node:fs";
import { afterAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { createSupervisor } from "../../../../lib/local/supervisor.ts";
import { ownChildren, parseStat, readCommand, readProcess, readThreads } from "../../../../lib/spawn/proc/proc.ts";
import { ProcTable } from "../../../../lib/spawn/proc/proc-table.ts";
import { makeScratch } from "../../../support/scratch.ts";
import { settled } from "../../../support/system-wait.ts";

const at = makeScratch();
const supervisor = createSupervisor();
afterAll(() => supervisor.close());

describe("a process in /proc", () => {
  it.each([") S 1 (x", "a b c", "(((", ")))", "new\nline) R 7", "12 34", "ünïcödé"])(
    "is read correctly if named %j",
    async (name) => {
      symlinkSync("/bin/sh", at(name));
      const child = await supervisor.start({ argv: [at(name), "-c", "read line"], pipeStdin: true });
      const pid = child.info.pid as number;
      const found = await settled(
        () => readProcess(pid),
        (entry) => entry?.state === "S",
      );
      const entry = { pid, state: "S", parent: process.pid, group: pid, session: pid };
      expect(found).toEqual({ ...entry, terminal: 0, foreground: -1, startTime: expect.any(Number) });
      expect(readThreads(pid)).toEqual([found]);
      expect(readCommand(pid)).toBe(`${at(name)} -c read line`);
      expect(new ProcTable().entries.filter((other) => other.pid === pid)).toEqual([found]);
      expect(ownChildren()).toContain(pid);
      expect(found?.startTime).toBeGreaterThan(readProcess(process.pid)?.startTime ?? 0);
      await child.closeStdin();
      await firstValueFrom(child.closed$);
      expect(
        await settled(
          () => readProcess(pid),
          (entry) => entry === undefined,
        ),
      ).toBeUndefined();
      expect(ownChildren()).not.toContain(pid);
    },
  );

  it("is undefined if it does not exist", () => {
    expect(readProcess(2 ** 22 + 1)).toBeUndefined();
    expect(readThreads(2 ** 22 + 1)).toEqual([]);
    expect(readCommand(2 ** 22 + 1)).toBe("[]");
  });

  it.each(["x", "a b", "a) Z 9 9 (b", "((", "))", "a\nb", ") S 1 1 1", ""])("is parsed with the name %j", (name) => {
    const rest = `S 10 20 30 34816 40 4194304 ${"0 ".repeat(12)}777 1`;
    const entry = { pid: 5, state: "S", parent: 10, group: 20, session: 30, terminal: 34816, foreground: 40 };
    expect(parseStat(`5 (${name}) ${rest}\n`)).toEqual({ ...entry, startTime: 777 });
  });

  it("has its terminal and the foreground group of the terminal", async () => {
    const child = await supervisor.start({ argv: ["/bin/cat"], tty: true });
    const pid = child.info.pid as number;
    expect(readProcess(pid)).toMatchObject({ foreground: pid, terminal: expect.any(Number) });
    expect(readProcess(pid)?.terminal).toBeGreaterThan(0);
    await child.terminate({ graceMs: 0 });
  });

  it("has a command of at most 256 characters, all complete", async () => {
    const child = await supervisor.start({
      argv: ["/bin/sh", "-c", "read line", "\u{1f600}".repeat(300)],
      pipeStdin: true,
    });
    const command = readCommand(child.info.pid as number);
    const start = "/bin/sh -c read line ";
    expect(command).toBe(start + "\u{1f600}".repeat(256 - start.length));
    await child.closeStdin();
  });
});
