// A runaway command must not fill the memory of its caller.
import { expect, it } from "@jest/globals";
import { runScript } from "../support/system-run.ts";

const BYTES = 600_000_000;
/** The log, the kept megabyte, chunks in flight and garbage that is not collected yet. */
const ENOUGH_MIB = 150;

it("keeps the beginning and the end of 600 MB, one megabyte together, in bounded memory", async () => {
  const report = (await runScript("run-flood", `${BYTES}`)) as { grownMiB: number };
  expect(report).toEqual({
    exitCode: 0,
    totalBytes: BYTES + 8,
    keptBytes: 1024 * 1024,
    ends: ["beginx", "xend"],
    grownMiB: expect.any(Number),
  });
  expect(report.grownMiB).toBeLessThan(ENOUGH_MIB);
}, 120_000);
