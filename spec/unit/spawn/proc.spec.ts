// Reading /proc where it is hard: command names are free text in the middle of a line of fields.
import { symlinkSync } from "node:fs";
import { afterAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { createSupervisor } from "../../../lib/local/supervisor.ts";
import { ownChildren, ProcTable, readProcess } from "../../../lib/spawn/proc.ts";
import { makeScratch } from "../../support/scratch.ts";
import { settled } from "../../support/system-wait.ts";

const at = makeScratch();
const supervisor = createSupervisor();
afterAll(() => supervisor.close());

describe("a process in /proc", () => {
  it.each([") S 1 (x", "a b c", "(((", ")))", "new\nline) R 7", "12 34", "ünïcödé"])(
    "is read rightly when named %j",
    async (name) => {
      symlinkSync("/bin/sh", at(name));
      const child = await supervisor.start({ argv: [at(name), "-c", "read line"], pipeStdin: true });
      const pid = child.info.pid as number;
      const found = await settled(
        () => readProcess(pid),
        (entry) => entry?.state === "S",
      );
      const entry = { pid, state: "S", parent: process.pid, group: pid, session: pid };
      expect(found).toEqual({ ...entry, startTime: expect.any(Number) });
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

  it("is undefined when there is none", () => {
    expect(readProcess(2 ** 22 + 1)).toBeUndefined();
  });
});
