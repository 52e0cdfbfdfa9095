// Which policies a supervisor with a sandbox accepts, as programs ask for them.
import { describe, expect, it } from "@jest/globals";
import { sandboxPolicy } from "../../../lib/cli/sandbox-options.ts";
import { policyOf } from "../../../lib/codex/server/sandbox-request.ts";
import { Ceiling } from "../../../lib/sandbox/ceiling.ts";
import type { SandboxPolicy } from "../../../protocol/index.ts";

const NONE = { writable: [], deny: [], allowHost: [], denyHost: [] };
const cli = (sandbox: "read-only" | "workspace-write", writable: readonly string[] = [], cwd = "/srv/app") =>
  sandboxPolicy({ ...NONE, sandbox, writable }, cwd) as SandboxPolicy;

const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
const codex = (...entries: readonly object[]) =>
  policyOf({
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    workspaceRoots: ["file:///srv/app"],
    windowsSandboxLevel: "disabled",
  }) as SandboxPolicy;
const READ_ONLY = [special("root", "read")];
const WORKSPACE_WRITE = [...READ_ONLY, special("project_roots", "write"), special("slash_tmp", "write")];

describe("a server with a writable workspace and a private /tmp", () => {
  const ceiling = new Ceiling(cli("workspace-write"));

  it("accepts read-only commands, whose /tmp is then an empty one", () => {
    const empty = { path: { named: "tmp" }, access: "read" };
    for (const policy of [cli("read-only"), codex(...READ_ONLY)])
      expect(ceiling.under(policy)).toMatchObject({ files: [...policy.files, empty] });
    expect(ceiling.under(cli("workspace-write"))).toEqual(cli("workspace-write"));
  });

  it("refuses the host's /tmp, and a workspace around its own", () => {
    expect(() => ceiling.under(codex(...WORKSPACE_WRITE))).toThrow("/tmp would have the access write, not none");
    expect(() => ceiling.under(cli("workspace-write", [], "/srv"))).toThrow(
      "/srv would have the access write, not read",
    );
  });
});

it("a server with a writable /tmp accepts the Codex CLI's workspace-write", () => {
  const ceiling = new Ceiling(cli("workspace-write", ["/tmp"]));
  const asked = codex(...WORKSPACE_WRITE);
  expect(ceiling.under(asked)).toEqual(asked);
});
