// Which sandboxes a client may request: none that would have to be enforced.
import { describe, expect, it } from "@jest/globals";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { refuseSandbox } from "../../../lib/codex/server/files/sandbox-request.ts";

function answer(sandbox: unknown): string {
  try {
    refuseSandbox(sandbox);
    return "accepted";
  } catch (error) {
    if (error instanceof CodexError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const asking = (permissions: unknown, rest: object = { windowsSandboxLevel: "disabled" }) => ({ permissions, ...rest });
const unrestricted = { type: "unrestricted" };

describe("a requested sandbox", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["disabled", asking({ type: "disabled" })],
    ["external with network", asking({ type: "external", network: "enabled" })],
    ["managed without a restriction", asking({ type: "managed", file_system: unrestricted, network: "enabled" })],
    ["fields around it", asking({ type: "disabled" }, { windowsSandboxLevel: "mxc", cwd: null, workspaceRoots: [] })],
  ])("is accepted: %s", (_, sandbox) => {
    expect(answer(sandbox)).toBe("accepted");
  });

  it.each([
    ["external without network", asking({ type: "external", network: "restricted" })],
    ["managed without network", asking({ type: "managed", file_system: unrestricted, network: "restricted" })],
    [
      "managed files",
      asking({ type: "managed", file_system: { type: "restricted", entries: [] }, network: "enabled" }),
    ],
  ])("is refused: %s", (_, sandbox) => {
    expect(answer(sandbox)).toMatch(/^-32602 this exec-server has no sandbox and refuses a request that needs one/);
  });

  it.each([
    ["x", 'invalid type: string "x", expected struct WireFileSystemSandboxContext'],
    [{}, "missing field `permissions`"],
    [asking({ type: "disabled" }, {}), "missing field `windowsSandboxLevel`"],
    [
      asking({ type: "disabled" }, { windowsSandboxLevel: "zz" }),
      "unknown variant `zz`, expected one of `disabled`, `restricted-token`, `elevated`, `mxc`",
    ],
    [asking(null), "invalid type: null, expected internally tagged enum ExecPermissionProfile"],
    [asking({}), "missing field `type`"],
    [asking({ type: 5 }), "invalid type: number, expected variant identifier"],
    [asking({ type: "bad" }), "unknown variant `bad`, expected one of `managed`, `disabled`, `external`"],
    [asking({ type: "external" }), "missing field `network`"],
    [asking({ type: "external", network: "zz" }), "unknown variant `zz`, expected `restricted` or `enabled`"],
    [asking({ type: "managed", network: "enabled" }), "missing field `file_system`"],
    [asking({ type: "managed", file_system: unrestricted }), "missing field `network`"],
    [
      asking({ type: "managed", file_system: { type: "zz" }, network: "enabled" }),
      "unknown variant `zz`, expected `restricted` or `unrestricted`",
    ],
    [asking({ type: "managed", file_system: { type: "restricted" }, network: "enabled" }), "missing field `entries`"],
    [
      asking({ type: "disabled" }, { windowsSandboxLevel: "disabled", cwd: "/tmp" }),
      "invalid URI: relative URL without a base",
    ],
  ])("does not decode: %j", (sandbox, words) => {
    expect(answer(sandbox)).toBe(`-32602 ${words}`);
  });
});
