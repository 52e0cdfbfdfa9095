// Sandboxes that whole programs put around their commands: a server for its clients, a tool server for its agent.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { CodexPeer } from "../support/codex-peer.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { cliArgv, runCli } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";

const scratch = makeScratch();
const surroundings = makeSurroundings();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function makeWorkspace(): string {
  const path = scratch(uniqueName("workspace"));
  mkdirSync(path);
  return path;
}

describeSandbox("execwire mcp --sandbox", () => {
  it("puts every command of the agent into it, in whichever directory the agent starts it", async () => {
    const workspace = makeWorkspace();
    const outside = makeWorkspace();
    const [command = "", ...args] = cliArgv("mcp", "--sandbox", "workspace-write", "--cwd", workspace);
    const client = new Client({ name: "spec", version: "0" });
    cleanups.push(() => client.close());
    await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const call = (script: string, more: object = {}) =>
      client.callTool({ name: "exec_start", arguments: { command: script, ...more } });
    await call("echo a > inside");
    expect(readFileSync(join(workspace, "inside"), "utf8")).toBe("a\n");
    const denied = await call("touch escaped", { cwd: outside });
    expect(denied.structuredContent).toMatchObject({ exitCode: 1, sandboxDenied: true });
    expect(existsSync(join(outside, "escaped"))).toBe(false);
  });
});

describeSandbox("execwire serve --sandbox-default", () => {
  const serve = async (kind: string) => {
    const workspace = makeWorkspace();
    const tokenFile = scratch(uniqueName("token"));
    const args = ["--sandbox-default", kind, "--token-file", tokenFile];
    const { url } = await surroundings.serve(args, {}, `cd ${workspace}`);
    return { workspace, url, tokenFile };
  };

  it("lets clients write its directory, also with a sandbox of their own, and refuses a wider one", async () => {
    const { workspace, url, tokenFile } = await serve("workspace-write");
    const remote = (...args: string[]) =>
      runCli(["run", "--url", url, "--token-file", tokenFile, "--cwd", workspace, ...args]);
    expect(await remote("--", "sh", "-c", "echo a > here && ! touch ../there")).toMatchObject({ code: 0 });
    expect(existsSync(join(workspace, "../there"))).toBe(false);
    expect(await remote("--sandbox", "read-only", "--", "touch", "never")).toMatchObject({ code: 1 });
    expect(existsSync(join(workspace, "never"))).toBe(false);
    const wider = await remote("--sandbox", "workspace-write", "--writable", "..", "--", "touch", "../there");
    expect(wider).toMatchObject({ code: 77, stderr: expect.stringContaining("may only be stricter") });
  });

  it.each(["read-only", "restricted"])("%s holds for the file and HTTP methods of Codex clients too", async (kind) => {
    const { workspace, url, tokenFile } = await serve(kind);
    const peer = await CodexPeer.connect(url, readFileSync(tokenFile, "utf8").trim());
    cleanups.push(() => peer.socket.terminate());
    const path = `file://${workspace}/file`;
    const written = await peer.call("fs/writeFile", { path, dataBase64: "YQ==" });
    expect(written.error?.message).toBe("Read-only file system (os error 30)");
    const shadow = await peer.call("fs/readFile", { path: "file:///proc/self/environ" });
    expect(Buffer.from(String(shadow.result?.dataBase64), "base64").toString()).not.toContain("HOME=");
    const http = await peer.call("http/request", { method: "GET", url: "http://127.0.0.1:1/", requestId: "r" });
    expect(http.error).toMatchObject({ code: -32602, data: { kind: "sandboxUnavailable" } });
    await peer.start("p", `touch ${workspace}/file`);
    await peer.closed("p");
    expect(existsSync(join(workspace, "file"))).toBe(false);
  });

  it("cannot be combined with a server that may have been started without it", async () => {
    const ran = await runCli(["serve", "--listen", "stdio", "--shared", "--sandbox-default", "read-only"]);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("--shared cannot be used") });
  });
});
