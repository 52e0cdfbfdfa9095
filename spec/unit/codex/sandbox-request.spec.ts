// How the sandbox that a client requests is decoded, and what of it is refused.
import { describe, expect, it } from "@jest/globals";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { decodeSandbox } from "../../../lib/codex/server/sandbox/sandbox-request.ts";

function answer(sandbox: unknown): unknown {
  try {
    return decodeSandbox(sandbox);
  } catch (error) {
    if (error instanceof CodexError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const asking = (permissions: unknown, rest: object = { windowsSandboxLevel: "disabled" }) => ({ permissions, ...rest });
const unrestricted = { type: "unrestricted" };
const restricted = (...entries: readonly unknown[]) =>
  asking({ type: "managed", file_system: { type: "restricted", entries }, network: "restricted" });

describe("a requested sandbox", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["disabled", asking({ type: "disabled" })],
    ["external with network", asking({ type: "external", network: "enabled" })],
    ["managed without a restriction", asking({ type: "managed", file_system: unrestricted, network: "enabled" })],
    [
      "an older client's full access",
      { sandboxPolicy: { type: "danger-full-access" }, windowsSandboxLevel: "disabled" },
    ],
  ])("restricts nothing: %s", (_, sandbox) => {
    expect(answer(sandbox)).toBeUndefined();
  });

  it("restricts the network alone", () => {
    const network = { entries: undefined, network: "restricted" };
    expect(answer(asking({ type: "external", network: "restricted" }))).toMatchObject(network);
    expect(answer(asking({ type: "managed", file_system: unrestricted, network: "restricted" }))).toMatchObject(
      network,
    );
  });

  it.each([
    ["windowsSandboxLevel `mxc`", asking({ type: "disabled" }, { windowsSandboxLevel: "mxc" })],
    ["windowsSandboxLevel `elevated`", asking({ type: "disabled" }, { windowsSandboxLevel: "elevated" })],
    [
      "windowsSandboxLevel `restricted-token`",
      asking({ type: "disabled" }, { windowsSandboxLevel: "restricted-token" }),
    ],
    ["`windowsSandboxPrivateDesktop`", { ...restricted(), windowsSandboxPrivateDesktop: true }],
    ["`macosSeatbeltExtensions`", { ...restricted(), macosSeatbeltExtensions: {} }],
  ])("of another system is refused by name: %s", (name, sandbox) => {
    expect(answer(sandbox)).toContain(`-32602 ${name} is for`);
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
    [restricted("x"), 'invalid type: string "x", expected struct ExecFileSystemSandboxEntry'],
    [
      restricted({ path: { type: "zz" }, access: "read" }),
      "unknown variant `zz`, expected one of `path`, `glob_pattern`, `special`",
    ],
    [
      restricted({ path: { type: "special", value: { kind: "zz" } }, access: "read" }),
      "unknown variant `zz`, expected one of `root`, `minimal`, `current_working_directory`, `project_roots`, `tmpdir`, `slash_tmp`, `unknown`",
    ],
    [restricted({ path: { type: "path", path: "/tmp" }, access: "read" }), "invalid URI: relative URL without a base"],
    [restricted({ path: { type: "path", path: "file:///tmp" } }), "missing field `access`"],
    [
      restricted({ path: { type: "path", path: "file:///tmp" }, access: "zz" }),
      "unknown variant `zz`, expected one of `read`, `write`, `deny`, `none`",
    ],
  ])("does not decode: %j", (sandbox, words) => {
    expect(answer(sandbox)).toBe(`-32602 ${words}`);
  });
});
