// Commands that a Codex client wants in a sandbox, under the real one.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { CodexHost } from "../support/codex-host.ts";
import type { CodexPeer } from "../support/codex-peer.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";

const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
const READ_ONLY = [special("root", "read")];
const WORKSPACE_WRITE = [...READ_ONLY, special("project_roots", "write")];
const RESTRICTED = [special("minimal", "read"), special("project_roots", "read")];

describeSandbox("a command of a Codex client in a sandbox", () => {
  const scratch = makeScratch();
  let host: CodexHost;
  let peer: CodexPeer;
  let workspace: string;
  beforeAll(async () => {
    host = await CodexHost.open();
    peer = await host.connect();
  });
  afterAll(() => host.close());
  beforeEach(() => {
    workspace = scratch(uniqueName("workspace"));
    mkdirSync(workspace);
    writeFileSync(join(workspace, "allowed.txt"), "allowed");
  });

  const sandboxOf = (entries: readonly object[], more: object = {}) => ({
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    cwd: `file://${workspace}`,
    workspaceRoots: [`file://${workspace}`],
    windowsSandboxLevel: "disabled",
    ...more,
  });
  const run = async (script: string, sandbox: object, more: object = {}) => {
    const id = uniqueName("sandboxed");
    const { result, error } = await peer.start(id, script, { cwd: `file://${workspace}`, sandbox, ...more });
    if (error) return { error, text: "" };
    await peer.closed(id);
    const exited = peer.pushesOf(id).find(({ method }) => method === "process/exited");
    const read = await peer.read(id, 0);
    return { sandboxType: result?.sandboxType, text: peer.textOf(id), ...exited?.params, read };
  };

  it("says so, and its failure is known to be a denial, also to a reader", async () => {
    const denied = await run("cat allowed.txt; touch new", sandboxOf(READ_ONLY));
    expect(denied).toMatchObject({ sandboxType: "linuxSeccomp", exitCode: 1, sandboxDenied: true });
    expect(denied).toMatchObject({ read: { exitCode: 1, sandboxDenied: true } });
    expect(denied.text).toMatch(/^allowed.*Read-only file system/s);
    expect(await run("exit 3", sandboxOf(READ_ONLY))).toMatchObject({ exitCode: 3, sandboxDenied: false });
  });

  it("writes its workspace, but not what programs outside of it run", async () => {
    const script = "echo a > new; mkdir .git .codex; mkdir -p .agents/x; touch ../new; ls -A | tr '\\n' ' '";
    const { text } = await run(script, sandboxOf(WORKSPACE_WRITE));
    expect(text.match(/File exists|Read-only/g)).toHaveLength(4);
    expect(readFileSync(join(workspace, "new"), "utf8")).toBe("a\n");
    expect(readdirSync(workspace).sort()).toEqual(["allowed.txt", "new"]);
    expect(existsSync(join(workspace, "../new"))).toBe(false);
  });

  it("keeps its own name, and a file outside of its workspace is denied", async () => {
    writeFileSync(scratch("denied.txt"), "denied");
    const script = `printf '%s' "$0"; if /bin/cat ${scratch("denied.txt")} >/dev/null 2>&1; then exit 42; fi`;
    expect(await run(script, sandboxOf(RESTRICTED), { arg0: "custom-arg0" })).toMatchObject({
      text: "custom-arg0",
      exitCode: 0,
    });
  });

  it.each([false, true])("runs with restricted reads, whatever PATH names first (tty: %s)", async (tty) => {
    for (const name of ["codex-linux-sandbox", "bwrap", "env", "bash"])
      writeFileSync(join(workspace, name), "#!/bin/sh\nprintf hostile", { mode: 0o755 });
    const argv = ["/bin/cat", join(workspace, "allowed.txt")];
    const env = { PATH: `${workspace}:/usr/bin:/bin` };
    expect(await run("", sandboxOf(RESTRICTED), { argv, env, tty })).toMatchObject({ text: "allowed", exitCode: 0 });
  });

  it("without workspace roots sees nothing of the workspace, and starts all the same", async () => {
    const sandbox = sandboxOf([special("project_roots", "read")], { workspaceRoots: [] });
    const ended = await run("", sandbox, { argv: ["/bin/cat", join(workspace, "allowed.txt")] });
    expect(ended).toMatchObject({ sandboxType: "linuxSeccomp", text: expect.not.stringContaining("allowed\n") });
    expect(ended).toMatchObject({ exitCode: 1, text: expect.stringContaining("No such file or directory") });
  });

  it("is not run if a writable root is a link, or for another system, and the error says why", async () => {
    const link = scratch(basename(uniqueName("link")));
    symlinkSync(workspace, link);
    const linked = { path: { type: "path", path: `file://${link}` }, access: "write" };
    expect(await run("touch ran", sandboxOf([...READ_ONLY, linked]))).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("symlinked writable roots are not supported") },
    });
    const windows = sandboxOf(WORKSPACE_WRITE, { windowsSandboxLevel: "restricted-token" });
    expect(await run("touch ran", windows)).toMatchObject({
      error: {
        code: -32602,
        data: { kind: "sandboxUnavailable" },
        message: expect.stringContaining("restricted-token"),
      },
    });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });

  it("in a missing directory fails to start, as without a sandbox", async () => {
    const missing = { cwd: `file://${workspace}/missing` };
    expect(await run("true", sandboxOf(READ_ONLY), missing)).toMatchObject({
      error: { code: -32603, data: { kind: "spawnNotFound" } },
    });
  });
});
