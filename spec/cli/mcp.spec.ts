// `execwire mcp` with the client of the official SDK, as an agent uses it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { ExecResult, ExecSessionInfo } from "../../lib/exec/sessions/session-types.ts";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { cliArgv, runCli } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { allGone, numbersIn } from "../support/trees.ts";

const surroundings = makeSurroundings();
const elsewhere = makeSurroundings();
const scratch = makeScratch();

/** The result of a tool call. */
interface Answer {
  readonly text: string;
  readonly data: ExecResult & { readonly sessions: readonly ExecSessionInfo[] };
  readonly isError: boolean;
  readonly code: string | undefined;
}

/** The agent's side of the connection. */
class Agent {
  readonly client = new Client({ name: "spec", version: "1" });
  readonly transport: StdioClientTransport;

  constructor(args: readonly string[] = [], env: Record<string, string> = {}) {
    const [command, ...rest] = cliArgv("mcp", ...args);
    this.transport = new StdioClientTransport({
      command: command as string,
      args: rest,
      env: { ...(surroundings.env as Record<string, string>), ...env },
      stderr: "ignore",
    });
  }

  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args }, undefined, signal && { signal });
    const [content] = result.content as { text: string }[];
    const meta = result._meta as { code?: string } | undefined;
    return {
      text: content?.text ?? "",
      data: result.structuredContent as Answer["data"],
      isError: result.isError === true,
      code: meta?.code,
    };
  }
}

const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.client.close();
});

async function connect(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Agent> {
  const agent = new Agent(args, env);
  agents.push(agent);
  await agent.client.connect(agent.transport);
  return agent;
}

describe("execwire mcp", () => {
  it("sets variables of any valid name, and refuses invalid names", async () => {
    const agent = await connect();
    const env = JSON.parse('{"__proto__":"one","constructor":"two"}');
    const { data } = await agent.call("exec_start", {
      command: 'env | grep -E "^(__proto__|constructor)=" | sort',
      env,
    });
    expect(data.head).toBe("__proto__=one\nconstructor=two\n");
    for (const wrong of ["A=b", ["A"], { A: {} }]) {
      expect(await agent.call("exec_start", { command: "true", env: wrong })).toMatchObject({ isError: true });
    }
  });

  it("describes its tools and how to use them", async () => {
    const { client } = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "exec_start",
      "exec_write",
      "exec_poll",
      "exec_signal",
      "exec_list",
      "exec_stop",
    ]);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description?.length).toBeGreaterThan(40);
      expect(inputSchema.type).toBe("object");
      expect(outputSchema?.type).toBe("object");
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toHaveProperty("description");
    }
    expect(client.getServerVersion()).toMatchObject({ name: "execwire" });
    expect(client.getInstructions()).toContain("exec_poll");
  });

  it("runs a command to its end, and returns its output as text and as data", async () => {
    const agent = await connect();
    const { text, data } = await agent.call("exec_start", { command: "echo hello; exit 3", yieldMs: 20_000 });
    expect(data).toMatchObject({ exited: true, exitCode: 3, head: "hello\n", outputDrained: true });
    expect(data.sessionId).toBeUndefined();
    expect(text).toBe("Exited with code 3.\nOutput:\nhello");
    expect((await agent.call("exec_list")).data.sessions).toEqual([]);
  });

  it("keeps an interactive program running: type, poll, list, stop", async () => {
    const agent = await connect();
    const script = 'printf "name? "; read name; echo "hello $name"; sleep 60';
    const started = await agent.call("exec_start", { command: script, tty: true, quietMs: 100, yieldMs: 20_000 });
    const { sessionId } = started.data;
    expect(started.text).toContain(`Session ${sessionId}`);
    expect(started.data.head).toBe("name? ");
    const written = await agent.call("exec_write", { sessionId, chars: "agent\n", quietMs: 100, yieldMs: 20_000 });
    expect(written.data).toMatchObject({ input: "accepted", head: "agent\r\nhello agent\r\n" });
    expect((await agent.call("exec_list")).data.sessions).toMatchObject([{ sessionId, state: "running", tty: true }]);
    const interrupted = await agent.call("exec_signal", { sessionId, signal: "SIGINT", yieldMs: 20_000 });
    expect(interrupted.data).toMatchObject({ exited: true });
    const again = await agent.call("exec_poll", { sessionId });
    expect(again.data).toMatchObject({ exited: true, head: "" });
    expect((await agent.call("exec_stop", { sessionId })).isError).toBe(false);
    expect(await agent.call("exec_poll", { sessionId })).toMatchObject({ isError: true, code: "PROCESS_UNKNOWN" });
  });

  it("limits output to a number of tokens, and reports what it omitted", async () => {
    const agent = await connect();
    const { data, text } = await agent.call("exec_start", { command: "seq 100000", maxTokens: 100, yieldMs: 20_000 });
    expect(data.head.length + data.tail.length).toBeLessThanOrEqual(400);
    expect(data.head.length + data.tail.length + data.omittedBytes).toBe(588_895);
    expect(text).toContain(`[... ${data.omittedBytes} bytes omitted ...]`);
    expect(data.tail.endsWith("99999\n100000\n")).toBe(true);
  });

  it("shows the last state of a progress bar in the text, and every byte as data", async () => {
    const agent = await connect();
    const command = `i=0; while [ $i -lt 500 ]; do printf '\\033[2K\\rPROGRESS %05d' $i; i=$((i+1)); done; printf '\\nDONE\\n'`;
    const { text, data } = await agent.call("exec_start", { command });
    expect(data.head).toHaveLength(500 * 19 + "\nDONE\n".length);
    expect(text).toMatch(/^Output \(without \d+ characters that it has overwritten itself\):\nPROGRESS 00499\nDONE$/m);
  });

  it("gives command lines the set-up of the user's shell with --shell-snapshot, which is made once", async () => {
    const home = scratch("home");
    mkdirSync(home);
    writeFileSync(join(home, ".bashrc"), 'echo x >>"$HOME/captures"\ngreet() { echo "hello $1"; }\n');
    const agent = await connect(["--shell-snapshot"], { HOME: home, SHELL: "/bin/bash" });
    for (const name of ["one", "two"]) {
      expect((await agent.call("exec_start", { command: `greet ${name}` })).data.head).toBe(`hello ${name}\n`);
    }
    expect((await agent.call("exec_start", { argv: ["echo", "plain"] })).data.head).toBe("plain\n");
    expect(readFileSync(join(home, "captures"), "utf8")).toBe("x\n");
  });

  it("accepts arguments of another type if only one reading is possible, and names unknown ones", async () => {
    const agent = await connect();
    const argv = '["sh","-c","echo $A $B; read line; echo got $line; exec sleep 300"]';
    const env = '{"A":"1","B":2}';
    const started = await agent.call("exec_start", { argv, env, stdin: "true", yieldMs: "300", cwd: null });
    expect(started.data.head).toBe("1 2\n");
    const sessionId = String(started.data.sessionId);
    const written = await agent.call("exec_write", { sessionId, chars: "5\n", quietMs: "0", yieldMs: "10000" });
    expect(written.data.head).toBe("got 5\n");
    const ended = await agent.call("exec_signal", { sessionId, signal: "INT", yieldMs: "10000" });
    expect(ended.data).toMatchObject({ signal: "SIGINT" });
    const unknown = await agent.call("exec_start", { command: "true", timeout: 500 });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('"timeout"') });
  });

  it("returns refusals with the code and the reason", async () => {
    const agent = await connect();
    expect(await agent.call("exec_start", { argv: ["/nowhere/program"] })).toMatchObject({
      isError: true,
      code: "SPAWN_FAILED",
      text: expect.stringContaining("/nowhere/program"),
    });
    expect(await agent.call("exec_start", {})).toMatchObject({ isError: true, code: "INVALID_PARAMS" });
    expect(await agent.call("exec_start", { command: "true", yieldMs: "soon" })).toMatchObject({ isError: true });
    const { data } = await agent.call("exec_start", { command: "sleep 60", yieldMs: 250 });
    const refused = await agent.call("exec_write", { sessionId: data.sessionId, chars: "x" });
    expect(refused.data).toMatchObject({ input: "stdinClosed", exited: false });
    expect(refused.text).toContain("start the command with tty or stdin");
  });

  it("gives commands its environment without secrets and pagers, and with the variables of --env", async () => {
    const agent = await connect(["--env", "GIVEN=yes", "--cwd", scratch(".")], { PLAIN: "there", MY_TOKEN: "secret" });
    const { data } = await agent.call("exec_start", {
      command: 'echo "$PLAIN/$MY_TOKEN/$GIVEN/$OWN/$PAGER"; pwd',
      env: { OWN: "mine" },
      yieldMs: 20_000,
    });
    expect(data.head).toBe(`there//yes/mine/cat\n${scratch(".")}\n`);
  });

  it("ends a command whose call was cancelled before there was a session", async () => {
    const agent = await connect();
    const file = scratch("cancelled");
    const cancel = new AbortController();
    const call = agent.call("exec_start", { command: `echo $$ > ${file}; sleep 60`, yieldMs: 30_000 }, cancel.signal);
    call.catch(() => undefined);
    let pid = "";
    // Until the file exists, each look reports that it does not.
    while (!/^\d+\n$/.test(pid))
      pid = (await agent.call("exec_start", { command: `cat ${file}`, yieldMs: 20_000 })).data.head;
    expect(numbersIn(pid).every(isAlive)).toBe(true);
    cancel.abort();
    await expect(call).rejects.toThrow();
    await allGone(...numbersIn(pid));
  });

  it("ends all its commands when the client disconnects", async () => {
    const agent = await connect();
    const server = agent.transport.pid as number;
    const script = 'trap "" TERM; echo $$; setsid sh -c "echo \\$\\$; exec sleep 60" & wait; while :; do sleep 1; done';
    const { data } = await agent.call("exec_start", { command: script, quietMs: 300, yieldMs: 20_000 });
    const pids = numbersIn(data.head);
    expect(pids).toHaveLength(2);
    await agent.client.close();
    await allGone(server, ...pids);
  });

  it("ends all its commands when the client is killed", async () => {
    const [command, ...args] = cliArgv("mcp");
    const child = spawn(command as string, args, { stdio: ["pipe", "pipe", "ignore"], env: surroundings.env });
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "spec", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    const argv = ["sh", "-c", "echo pid $$; exec sleep 60"];
    send({
      id: 2,
      method: "tools/call",
      params: { name: "exec_start", arguments: { argv, quietMs: 0, yieldMs: 20_000 } },
    });
    let printed = "";
    for await (const piece of child.stdout.setEncoding("utf8")) {
      printed += piece;
      if (/"id":2/.test(printed) && printed.endsWith("\n")) break;
    }
    const pids = numbersIn(/pid (\d+)/.exec(printed)?.[1] ?? "");
    expect(pids.filter(isAlive)).toHaveLength(1);
    const over = once(child, "exit");
    // The death of the client shows only as the end of the pipes.
    child.stdin.destroy();
    expect(await over).toEqual([0, null]);
    await allGone(...pids);
  });

  it("runs commands on a server, in a directory that has another name there", async () => {
    await surroundings.serve();
    const agent = await connect(["--remote", "--workspace", `/home/me/app=${scratch(".")}`]);
    const { data } = await agent.call("exec_start", { command: "pwd; sleep 60", quietMs: 0, yieldMs: 20_000 });
    expect(data).toMatchObject({ head: `${scratch(".")}\n`, exited: false });
    const outside = await agent.call("exec_start", { command: "pwd", cwd: "/tmp" });
    expect(outside).toMatchObject({ isError: true, code: "INVALID_PARAMS", text: expect.stringContaining("/tmp") });
    const { stdout } = await surroundings.cli(["ps"]);
    expect(stdout).toContain(data.processId);
    await agent.client.close();
    expect(JSON.parse((await surroundings.cli(["ps", "--json"])).stdout)).toMatchObject([{ state: "closed" }]);
  });

  it("reports CONNECTION_LOST when its server does not come back", async () => {
    const server = await elsewhere.serve();
    const agent = await connect(["--remote", "--recovery", "0.5"], { XDG_RUNTIME_DIR: elsewhere.runtimeDir });
    const { data } = await agent.call("exec_start", { command: "echo ready; sleep 60", quietMs: 0, yieldMs: 20_000 });
    const { sessionId } = data;
    server.child.kill("SIGKILL");
    const lost = await agent.call("exec_poll", { sessionId, yieldMs: 20_000 });
    expect(lost.data).toMatchObject({ exited: false, exitCode: null, failure: { code: "CONNECTION_LOST" } });
    expect(lost.text).toContain("CONNECTION_LOST");
    expect(await agent.call("exec_start", { command: "true" })).toMatchObject({
      isError: true,
      code: "CONNECTION_LOST",
    });
  });

  it("reports what is wrong with its own arguments", async () => {
    expect(await runCli(["mcp", "--workspace", "/a=/b"])).toMatchObject({ code: 2, stdout: "" });
    expect(await runCli(["mcp", "--url", "x", "--workspace", "nonsense"])).toMatchObject({ code: 2, stdout: "" });
    const { stdout, code } = await runCli(["mcp", "--help"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("mcpServers") });
  });
});
