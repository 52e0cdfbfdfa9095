// The guess whether a sandbox is to blame, with the examples of the Codex exec-server.
import { describe, expect, it } from "@jest/globals";
import { type DenialFacts, looksSandboxDenied } from "../../../lib/sandbox/denial.ts";

const denied = (facts: Partial<DenialFacts>) =>
  looksSandboxDenied({ sandbox: "landlock", exitCode: 1, texts: [], ...facts });

describe("a sandbox is blamed", () => {
  it("not for a failure without a typical message", () => {
    expect(denied({ texts: ["", "test failed"] })).toBe(false);
  });

  it.each([
    "Operation not permitted",
    "Permission denied",
    "cargo failed: Read-only file system when writing target",
    "bad system call (seccomp)",
    "sandbox: denied",
    "landlock",
    "failed to write file x",
  ])("for a failure with the message: %s", (text) => {
    expect(denied({ texts: ["", text] })).toBe(true);
  });

  it.each([2, 126, 127])("not for the shell's own exit code %i", (exitCode) => {
    expect(denied({ exitCode, texts: ["command not found"] })).toBe(false);
  });

  it("for a death by SIGSYS, even without a message", () => {
    expect(denied({ exitCode: 128 + 31 })).toBe(true);
  });

  it.each([128 + 9, 128 + 15])("not for a death by another signal, whatever was printed: %i", (exitCode) => {
    expect(denied({ exitCode, texts: ["Operation not permitted"] })).toBe(false);
  });

  it("never for a success, nor without a sandbox", () => {
    expect(denied({ exitCode: 0, texts: ["Operation not permitted"] })).toBe(false);
    expect(denied({ sandbox: "none", texts: ["Operation not permitted"] })).toBe(false);
  });
});
