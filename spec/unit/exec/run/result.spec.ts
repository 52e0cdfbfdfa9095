// What a result derives from exit and output, in cases that no backend of the specs produces.
import { describe, expect, it } from "@jest/globals";
import { Capture } from "../../../../lib/exec/run/capture.ts";
import { type RunFacts, resultOf } from "../../../../lib/exec/run/result.ts";
import { exited } from "../../../support/transcript.ts";

const CAP = 1000;

async function resultWith(stderr: string, facts: Partial<RunFacts>) {
  const capture = new Capture(CAP);
  capture.take({ type: "output", seq: 1, stream: "stderr", chunk: Buffer.from(stderr) });
  const plain = { processId: "p", expiry: undefined, durationMs: 1, drain: "eof", sandbox: "landlock" } as const;
  return resultOf(capture, CAP, { ...plain, exited: exited(2, { exitCode: 1, result: "error" }), ...facts });
}

describe("the result of a run", () => {
  it("blames the sandbox for a failure with a typical message, and if the backend reports it", async () => {
    expect((await resultWith("touch: /x: Read-only file system", {})).sandboxDenied).toBe(true);
    expect((await resultWith("no tests found", {})).sandboxDenied).toBe(false);
    const told = exited(2, { exitCode: 1, result: "error", sandboxDenied: true });
    expect((await resultWith("", { exited: told })).sandboxDenied).toBe(true);
  });

  it("does not blame the sandbox for a timeout or a success, nor without a sandbox", async () => {
    const text = "Permission denied";
    expect((await resultWith(text, { expiry: "timeout" })).sandboxDenied).toBe(false);
    const timedOut = exited(2, { exitCode: 1, result: "terminated", reason: "timeout" });
    expect((await resultWith(text, { exited: timedOut })).sandboxDenied).toBe(false);
    expect((await resultWith(text, { exited: exited(2) })).sandboxDenied).toBe(false);
    expect((await resultWith(text, { sandbox: "none" })).sandboxDenied).toBe(false);
  });

  it("invents no exit code for a process whose end is unknown", async () => {
    const lost = exited(2, { exitCode: null, result: "error", reason: "lost" });
    expect(await resultWith("", { exited: lost })).toMatchObject({ exitCode: null, signal: null, exited: lost });
    expect(await resultWith("", { exited: undefined })).toMatchObject({ exitCode: null, exited: null });
  });
});
