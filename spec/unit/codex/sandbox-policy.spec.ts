// The policies that requested sandboxes become. The first two are requests of the real Codex CLI, as they were recorded.
import { describe, expect, it } from "@jest/globals";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { policyOf } from "../../../lib/codex/server/sandbox/sandbox-policy.ts";
import { decodeSandbox } from "../../../lib/codex/server/sandbox/sandbox-request.ts";
import type { SandboxPolicy } from "../../../protocol/index.ts";

function translated(sandbox: object, tmpdir?: string): SandboxPolicy | string | undefined {
  try {
    const decoded = decodeSandbox({ windowsSandboxLevel: "disabled", ...sandbox });
    return decoded && policyOf(decoded, tmpdir);
  } catch (error) {
    if (error instanceof CodexError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const special = (kind: string, access: string, more: object = {}, subpath?: string) => ({
  path: { type: "special", value: { kind, ...(subpath === undefined ? {} : { subpath }) } },
  access,
  ...more,
});
const path = (name: string, access: string, more: object = {}) => ({
  path: { type: "path", path: `file://${name}` },
  access,
  ...more,
});
const managed = (entries: readonly object[], network = "restricted") => ({
  permissions: { type: "managed", file_system: { type: "restricted", entries }, network },
});
const RECORDED = {
  cwd: "file:///w/work",
  workspaceRoots: ["file:///w/work"],
  windowsSandboxProxySettingsMode: "reconcile",
  useLegacyLandlock: false,
};
const root = (access: "read" | "write") => ({ path: { named: "root" }, access }) as const;
const PROTECTED = [".git", ".agents", ".codex", ".aws"];
const protectedIn = (directory: string, ifMissing: string) =>
  PROTECTED.map((name) => ({ path: `${directory}/${name}`, access: "read", ifMissing }));

describe("the Codex CLI's sandbox", () => {
  it("read-only shows everything, writes nothing and has no network", () => {
    const sandbox = { ...managed([special("root", "read")]), ...RECORDED };
    expect(translated(sandbox)).toEqual({ files: [root("read")], network: "none" });
  });

  it("workspace-write opens the workspace and temporary directories, and protects what is run outside", () => {
    const skip = { missing_path_behavior: "skip" };
    const entries = [
      special("root", "read"),
      special("project_roots", "write"),
      special("slash_tmp", "write"),
      special("tmpdir", "write"),
      ...PROTECTED.map((name) => special("project_roots", "read", skip, name)),
    ];
    expect(translated({ ...managed(entries), ...RECORDED }, "/var/tmp/x/")).toEqual({
      files: [
        ...protectedIn("/w/work", "protect"),
        ...protectedIn("/tmp", "skip"),
        ...protectedIn("/var/tmp/x", "skip"),
        root("read"),
        { path: "/w/work", access: "write", ifMissing: "skip" },
        { path: "/tmp", access: "write", ifMissing: "skip" },
        { path: "/var/tmp/x", access: "write", ifMissing: "skip" },
        ...protectedIn("/w/work", "skip"),
      ],
      network: "none",
    });
  });

  it("of an older client is the same policy", () => {
    const legacy = {
      type: "workspace-write",
      writable_roots: ["/data"],
      network_access: true,
      exclude_slash_tmp: true,
    };
    expect(translated({ sandboxPolicy: legacy, cwd: "file:///w" })).toEqual({
      files: [
        ...protectedIn("/w", "protect"),
        ...protectedIn("/data", "protect"),
        root("read"),
        { path: "/w", access: "write", ifMissing: "skip" },
        { path: "/data", access: "write", ifMissing: "skip" },
      ],
      network: "full",
    });
    expect(translated({ sandboxPolicy: { type: "read-only" } })).toEqual({ files: [root("read")], network: "none" });
    expect(translated({ sandboxPolicy: { type: "external-sandbox" } })).toEqual({
      files: [root("write")],
      network: "none",
    });
  });
});

describe("an entry", () => {
  it("for a missing path is skipped if it grants writing or says so, and protects it otherwise", () => {
    const entries = [special("root", "read"), path("/a", "read"), path("/b", "deny"), path("/c/d", "none")];
    const skipped = path("/e", "deny", { missing_path_behavior: "skip" });
    expect(translated(managed([...entries, skipped]))).toMatchObject({
      files: [
        root("read"),
        { path: "/a", access: "read", ifMissing: "protect" },
        { path: "/b", access: "none", ifMissing: "protect" },
        { path: "/c/d", access: "none", ifMissing: "protect" },
        { path: "/e", access: "none", ifMissing: "skip" },
      ],
    });
  });

  it("that names a protected path as writable is taken at its word", () => {
    const policy = translated(managed([special("root", "read"), path("/w", "write"), path("/w/.git", "write")]));
    const rules = (policy as SandboxPolicy).files.filter(({ path: name }) => String(name).includes(".git"));
    expect(rules).toEqual([{ path: "/w/.git", access: "write", ifMissing: "skip" }]);
  });

  it("for the roots of a workspace without roots grants nothing but the programs of the system", () => {
    const platform = { path: { named: "platform" }, access: "read" };
    expect(translated({ ...managed([special("project_roots", "read")]), workspaceRoots: [] })).toMatchObject({
      files: [platform],
    });
  });

  it("for the root directory is one for everything", () => {
    expect(translated(managed([path("/", "read")]))).toMatchObject({ files: [root("read")] });
  });

  it.each([
    ["the pattern `**/.env`", { path: { type: "glob_pattern", pattern: "**/.env" }, access: "deny" }],
    ["`minimal` cannot be writable", special("minimal", "write")],
    ["special path `unknown`", special("unknown", "deny")],
    ["subpath `../x`", special("project_roots", "read", {}, "../x")],
    ["subpath `/etc`", special("project_roots", "read", {}, "/etc")],
    ["invalid sandbox permission path: 'file://host/x'", path("host/x", "deny")],
  ])("that cannot be enforced is refused: %s", (words, entry) => {
    expect(translated({ ...managed([special("root", "read"), entry]), ...RECORDED })).toContain(words);
  });
});
