// Q35: SIGUSR1 makes a Node program open a debugger port without a token. Here no signal opens a debugger or ends a server.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { cliArgv, dist } from "../support/system-run.ts";
import { Surroundings } from "../support/system-server.ts";

let user: Surroundings;
beforeEach(() => {
  user = new Surroundings();
});
afterEach(() => user.end());

/** Collects stderr until it contains the text. */
async function said(child: ChildProcess, text: string): Promise<string> {
  let stderr = "";
  child.stderr?.setEncoding("utf8");
  while (!stderr.includes(text)) stderr += (await once(child.stderr as NodeJS.ReadableStream, "data"))[0];
  return stderr;
}

describe("a signal to a program that keeps processes", () => {
  it.each(["SIGUSR1", "SIGUSR2"] as const)(
    "opens no debugger in execwire serve, and ends nothing: %s",
    async (signal) => {
      const server = await user.serve();
      const heard = said(server.child, `execwire: ${signal} was ignored\n`);
      server.child.kill(signal);
      await heard;
      expect(server.printed.stderr).not.toContain("Debugger");
      expect(await user.cli(["run", "--remote", "--", "echo", "hello"])).toMatchObject({ stdout: "hello\n", code: 0 });
    },
  );

  it.each(["SIGUSR1", "SIGUSR2"] as const)(
    "opens no debugger in execwire mcp, and ends nothing: %s",
    async (signal) => {
      const [node = "", ...args] = cliArgv("mcp");
      const child = spawn(node, args);
      // It answers, so it is running.
      const hello = { jsonrpc: "2.0", id: 1, method: "ping" };
      child.stdin.write(`${JSON.stringify(hello)}\n`);
      await once(child.stdout, "data");
      const heard = said(child, `${signal} was ignored\n`);
      child.kill(signal);
      expect(await heard).toBe(`execwire: ${signal} was ignored\n`);
      child.stdin.end();
      expect(await once(child, "exit")).toEqual([0, null]);
    },
  );

  it("does not leave a debugger open that it opened before the program was loaded", async () => {
    const early =
      'import { url } from "node:inspector"; process.kill(process.pid, "SIGUSR1"); while (url() === undefined) await new Promise(setImmediate);';
    const preload = `data:text/javascript,${encodeURIComponent(early)}`;
    const main = join(dist, "lib/cli/main.js");
    const child = spawn(process.execPath, ["--inspect-port=0", "--import", preload, main, "mcp"]);
    const heard = said(child, "Debugger listening on");
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    await once(child.stdout, "data");
    const [, port] = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(await heard) ?? [];
    const [error] = await once(connect(Number(port), "127.0.0.1"), "error");
    expect(error.code).toBe("ECONNREFUSED");
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("does not close a debugger that the user has requested", async () => {
    const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", join(dist, "lib/cli/main.js"), "mcp"]);
    const heard = said(child, "Debugger listening on");
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    await once(child.stdout, "data");
    const [, port] = /ws:\/\/127\.0\.0\.1:(\d+)\//.exec(await heard) ?? [];
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
