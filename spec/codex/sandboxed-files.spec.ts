// The file methods with a sandbox: the same files are open to them as to a command there, also behind links.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { CodexHost } from "../support/codex-host.ts";
import type { CodexPeer } from "../support/codex-peer.ts";
import { makeScratch } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const READ_ONLY = "-32603 Read-only file system (os error 30)";
const DENIED = "-32600 Permission denied (os error 13)";
const MISSING = "-32004 No such file or directory (os error 2)";

describeSandbox("a file method with a sandbox", () => {
  const scratch = makeScratch();
  const workspace = scratch("workspace");
  let host: CodexHost;
  let peer: CodexPeer;
  beforeAll(async () => {
    mkdirSync(join(workspace, ".git"), { recursive: true });
    writeFileSync(join(workspace, "file"), "inside");
    writeFileSync(join(workspace, "secret"), "secret");
    writeFileSync(scratch("outside"), "outside");
    symlinkSync(scratch("outside"), join(workspace, "link"));
    symlinkSync("secret", join(workspace, "secret-link"));
    host = await CodexHost.open();
    peer = await host.connect();
  });
  afterAll(() => host.close());

  const at = (name: string) => `file://${workspace}/${name}`;
  const sandboxOf = (...entries: readonly object[]) => ({
    permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
    workspaceRoots: [`file://${workspace}`],
    windowsSandboxLevel: "disabled",
  });
  const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
  const deny = { path: { type: "path", path: at("secret") }, access: "deny" };
  const readOnly = sandboxOf(special("root", "read"));
  const write = sandboxOf(special("root", "read"), special("project_roots", "write"), deny);
  const restricted = sandboxOf(special("minimal", "read"), special("project_roots", "read"));
  const call = async (method: string, params: object) => {
    const { result, error } = await peer.call(method, params);
    return error ? `${error.code} ${error.message}` : result;
  };

  it("reads and writes what a command there reads and writes", async () => {
    const dataBase64 = base64("new");
    expect(await call("fs/readFile", { path: at("file"), sandbox: readOnly })).toEqual({
      dataBase64: base64("inside"),
    });
    expect(await call("fs/writeFile", { path: at("file"), dataBase64, sandbox: readOnly })).toBe(READ_ONLY);
    expect(await call("fs/writeFile", { path: at("new"), dataBase64, sandbox: write })).toEqual({});
    expect(readFileSync(join(workspace, "new"), "utf8")).toBe("new");
    expect(await call("fs/writeFile", { path: at(".git/config"), dataBase64, sandbox: write })).toBe(READ_ONLY);
    expect(await call("fs/readFile", { path: at("secret"), sandbox: write })).toBe(DENIED);
    expect(await call("fs/getMetadata", { path: "file:///etc/shadow", sandbox: restricted })).toBe(MISSING);
    expect(await call("fs/getMetadata", { path: at("nothing"), sandbox: write })).toBe(MISSING);
  });

  it("follows no link to where its sandbox does not reach", async () => {
    expect(await call("fs/writeFile", { path: at("link"), dataBase64: "", sandbox: write })).toBe(READ_ONLY);
    expect(readFileSync(scratch("outside"), "utf8")).toBe("outside");
    expect(await call("fs/readFile", { path: at("link"), sandbox: restricted })).toBe(MISSING);
    expect(await call("fs/readFile", { path: at("secret-link"), sandbox: write })).toBe(DENIED);
    expect(await call("fs/canonicalize", { path: at("link"), sandbox: restricted })).toBe(MISSING);
    const copy = { sourcePath: at("secret-link"), destinationPath: at("copied"), recursive: false, sandbox: write };
    await call("fs/copy", copy);
    expect(existsSync(join(workspace, "copied")) && readFileSync(join(workspace, "copied"), "utf8")).not.toBe("public");
  });

  it("sees no process and no environment of this program", async () => {
    const path = "file:///proc/self/environ";
    const { result } = await peer.call("fs/readFile", { path, sandbox: readOnly });
    expect(Buffer.from(String(result?.dataBase64), "base64").toString()).not.toMatch(/PATH|HOME/);
    expect(await call("fs/getMetadata", { path: `file:///proc/${process.pid}`, sandbox: readOnly })).toBe(MISSING);
  });

  it("keeps a file open that it was allowed to open, under an id that is unique", async () => {
    const open = { handleId: "h", path: at("file"), sandbox: readOnly };
    expect(await call("fs/open", { ...open, mode: "replace" })).toBe(READ_ONLY);
    expect(await call("fs/open", open)).toEqual({ handleId: "h" });
    for (const sandbox of [readOnly, null])
      expect(await call("fs/open", { ...open, sandbox })).toBe("-32600 file handle `h` already exists");
    const block = { handleId: "h", offset: 2, len: 100 };
    expect(await call("fs/readBlock", block)).toEqual({ chunk: base64("side"), eof: true });
    expect(await call("fs/close", { handleId: "h" })).toEqual({});
    expect(await call("fs/readBlock", block)).toBe("-32004 unknown file handle `h`");
  });

  it("watches for a missing path, once its reply was sent", async () => {
    const watch = { watchId: 1, missing: [at("appears")], present: null, sandbox: readOnly };
    expect(await call("fs/watchMissing", watch)).toEqual({ watching: true });
    expect(await call("fs/watchMissing", watch)).toEqual({ watching: false });
    writeFileSync(join(workspace, "appears"), "");
    await peer.until(() =>
      peer.received.find((message) => "method" in message && message.method === "fs/missingChanged"),
    );
  });

  it("transfers a large file", async () => {
    const dataBase64 = Buffer.alloc(3 * 1024 * 1024, "0123456789").toString("base64");
    expect(await call("fs/writeFile", { path: at("large"), dataBase64, sandbox: write })).toEqual({});
    expect(await call("fs/readFile", { path: at("large"), sandbox: write })).toEqual({ dataBase64 });
  });

  it("leaves no process behind, neither after its request nor after its connection", async () => {
    const other = await host.connect();
    await other.call("fs/open", { handleId: "h", path: at("file"), sandbox: readOnly });
    await other.cut();
    const running = async () => (await host.supervisor.list()).filter(({ state }) => state === "running");
    // The watch of the first connection.
    expect(await settled(running, (list) => list.length === 1)).toHaveLength(1);
  });
});
