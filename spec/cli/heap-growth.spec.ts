// V8 ignores unknown flags silently, and the next Node may have other flags.
import { expect, it } from "@jest/globals";
import { HEAP_GROWTH_FLAG } from "../../lib/cli/server/heap-growth.ts";
import { runProgram } from "../support/system-run.ts";

it("V8 knows the flag by which a server lets its heap grow", async () => {
  const { stdout } = await runProgram([process.execPath, "--v8-options"]);
  expect(stdout).toContain(`\n  ${HEAP_GROWTH_FLAG} `);
});
