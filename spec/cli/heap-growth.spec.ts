// A flag that V8 does not know changes nothing, and V8 says nothing: the next Node may have another one.
import { expect, it } from "@jest/globals";
import { HEAP_GROWTH_FLAG } from "../../lib/cli/heap-growth.ts";
import { runProgram } from "../support/system-run.ts";

it("V8 knows the flag by which a server lets its heap grow", async () => {
  const { stdout } = await runProgram([process.execPath, "--v8-options"]);
  expect(stdout).toContain(`\n  ${HEAP_GROWTH_FLAG} `);
});
