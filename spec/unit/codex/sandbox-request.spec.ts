// The policies that clients request by permission profiles, and requests that cannot be enforced.
import { describe, expect, it } from "@jest/globals";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { policyOf } from "../../../lib/codex/server/sandbox-request.ts";

const env = { TMPDIR: "/var/tmp/own" };

function answer(sandbox: unknown): unknown {
  try {
    return policyOf(sandbox, env) ?? "unrestricted";
  } catch (error) {
    if (error instanceof CodexError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const asking = (permissions: unknown, rest: object = { windowsSandboxLevel: "disabled" }) => ({ permissions, ...rest });
const unrestricted = { type: "unrestricted" };

describe("the sandbox of an older client", () => {
  const legacy = (sandboxPolicy: object) =>
    answer({ sandboxPolicy, windowsSandboxLevel: "disabled", cwd: "file:///w" });
  const policyFor = (...entries: readonly object[]) =>
    answer({
      permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
      workspaceRoots: ["file:///w"],
      windowsSandboxLevel: "disabled",
    });
  const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
  const data = { path: { type: "path", path: "file:///da%20ta" }, access: "write" };

  it("is the policy of the same permissions", () => {
    const root = special("root", "read");
    const workspace = [root, special("project_roots", "write")];
    const temporary = [special("slash_tmp", "write"), special("tmpdir", "write")];
    const exclude = { exclude_slash_tmp: true, exclude_tmpdir_env_var: true };
    expect(legacy({ type: "danger-full-access" })).toBe("unrestricted");
    expect(legacy({ type: "external-sandbox", network_access: "enabled" })).toBe("unrestricted");
    expect(legacy({ type: "read-only" })).toEqual(policyFor(root));
    expect(legacy({ type: "read-only", network_access: true })).toMatchObject({ network: "full" });
    expect(legacy({ type: "workspace-write" })).toEqual(policyFor(...workspace, ...temporary));
    expect(legacy({ type: "workspace-write", writable_roots: ["/da ta"], ...exclude })).toEqual(
      policyFor(...workspace, data),
    );
  });

  it("is refused if it is of an unknown type", () => {
    expect(legacy({ type: "zz" })).toMatch(/^-32602 unknown variant `zz`, expected one of `danger-full-access`/);
  });
});

describe("a setting of another system", () => {
  it.each(["macosSeatbeltExtensions", "windowsSandboxPrivateDesktop", "additionalPermissions"])(
    "is refused by its name: %s",
    (name) => {
      const sandbox = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled", [name]: true };
      expect(answer(sandbox)).toBe(`-32602 ${name} is unavailable on this executor`);
      expect(answer({ ...sandbox, [name]: null })).toBe("unrestricted");
    },
  );
});

describe("a requested sandbox", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["disabled", asking({ type: "disabled" })],
    ["external with network", asking({ type: "external", network: "enabled" })],
    ["managed without a restriction", asking({ type: "managed", file_system: unrestricted, network: "enabled" })],
    ["fields around it", asking({ type: "disabled" }, { windowsSandboxLevel: "mxc", cwd: null, workspaceRoots: [] })],
  ])("restricts nothing: %s", (_, sandbox) => {
    expect(answer(sandbox)).toBe("unrestricted");
  });

  const special = (value: object, access = "read", more: object = {}) => ({
    path: { type: "special", value },
    access,
    ...more,
  });
  const managed = (entries: readonly object[], more: object = {}, network = "restricted") =>
    asking(
      { type: "managed", file_system: { type: "restricted", entries }, network },
      { windowsSandboxLevel: "disabled", cwd: "file:///w", workspaceRoots: ["file:///w", "file:///x/y/"], ...more },
    );
  const root = { path: { named: "root" }, access: "read", ifMissing: "protect" };
  const guards = (folder: string, ifMissing = "protect") =>
    [".git", ".agents", ".codex", ".aws"].map((name) => ({ path: `${folder}/${name}`, access: "read", ifMissing }));
  const writable = (path: string) => ({ path, access: "write", ifMissing: "skip" });

  it.each([
    ["external without network", asking({ type: "external", network: "restricted" })],
    ["managed without network", asking({ type: "managed", file_system: unrestricted, network: "restricted" })],
  ])("restricts the network alone: %s", (_, sandbox) => {
    expect(answer(sandbox)).toEqual({ files: [{ path: { named: "root" }, access: "write" }], network: "none" });
  });

  it("restricts the files alone, and then unix sockets are not restricted either", () => {
    const policy = { files: [root], network: "full", unixSockets: true };
    expect(answer(managed([special({ kind: "root" })], {}, "enabled"))).toEqual(policy);
  });

  it("means the workspace roots of the request, with what is protected in them", () => {
    const entries = [special({ kind: "root" }), special({ kind: "project_roots" }, "write")];
    const files = [root, writable("/w"), writable("/x/y"), ...guards("/w"), ...guards("/x/y")];
    expect(answer(managed(entries))).toEqual({ files, network: "none" });
    expect(answer(managed(entries, { workspaceRoots: [] }))).toEqual({ files: [root], network: "none" });
  });

  it("that shows nothing else shows the programs of the system, without which nothing could start", () => {
    const platform = { path: { named: "platform" }, access: "read" };
    const entries = [special({ kind: "project_roots" })];
    expect(answer(managed(entries, { workspaceRoots: [] }))).toEqual({ files: [platform], network: "none" });
    expect(answer(managed([]))).toEqual({ files: [platform], network: "none" });
  });

  it("lets an entry decide about what would be protected", () => {
    const entries = [
      special({ kind: "project_roots" }, "write"),
      special({ kind: "project_roots", subpath: ".git" }, "deny"),
    ];
    const { files } = answer(managed(entries, { workspaceRoots: ["file:///w"] })) as { files: object[] };
    expect(files.filter((rule) => (rule as { path: unknown }).path === "/w/.git")).toEqual([
      { path: "/w/.git", access: "none", ifMissing: "protect" },
    ]);
  });

  it.each([
    [special({ kind: "minimal" }), [{ path: { named: "platform" }, access: "read", ifMissing: "protect" }]],
    [special({ kind: "slash_tmp" }, "write"), [writable("/tmp"), ...guards("/tmp", "skip")]],
    [special({ kind: "tmpdir" }, "write"), [writable("/var/tmp/own"), ...guards("/var/tmp/own", "skip")]],
    [special({ kind: "current_working_directory" }, "write"), [writable("/w"), ...guards("/w")]],
    [special({ kind: "unknown", path: ":new" }, "write"), []],
    [
      { path: { type: "path", path: "file:///a%20b/" }, access: "none" },
      [{ path: "/a b", access: "none", ifMissing: "protect" }],
    ],
    [{ path: { type: "path", path: "file:///" }, access: "read" }, [root]],
  ])("translates the entry %j", (entry, files) => {
    const readable = special({ kind: "root" });
    expect(answer(managed([readable, entry]))).toEqual({ files: [root, ...files], network: "none" });
  });

  it.each([
    [managed([], { windowsSandboxLevel: "mxc" }), "windowsSandboxLevel mxc is unavailable on this executor"],
    [managed([], { windowsSandboxLevel: "elevated" }), "windowsSandboxLevel elevated is unavailable on this executor"],
    [
      managed([{ path: { type: "glob_pattern", pattern: "**/.env" }, access: "deny" }]),
      'access deny to the pattern "**/.env" is unavailable; name the paths',
    ],
    [managed([special({ kind: "unknown" }, "deny")]), "access to an unknown special path cannot be denied"],
    [
      managed([special({ kind: "project_roots", subpath: "../z" })]),
      'the subpath "../z" must be below its project root',
    ],
  ])("is refused if it cannot be enforced: %j", (sandbox, words) => {
    expect(answer(sandbox)).toBe(`-32602 ${words}`);
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
