// `execwire serve`: how it starts, what it keeps secret, and how it shuts down with everything it started.

import { once } from "node:events";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { WebSocket } from "ws";
import { encode, PROTOCOL_VERSION, SUBPROTOCOL } from "../../protocol/index.ts";
import { isAlive, stateOf } from "../support/system-facts.ts";
import { Surroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

let user: Surroundings;
beforeEach(() => {
  user = new Surroundings();
});
afterEach(() => user.end());

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
/** Starts a command that keeps running; returns the numbers in its first line, by default its pid. */
async function startStubborn(script = "echo $$; exec sleep 300"): Promise<number[]> {
  await user.cli(["run", "-d", "--id", "stays", "--", "sh", "-c", script]);
  let line: string | undefined;
  while (!line) [line] = (await user.cli(["logs", "stays"])).stdout.split("\n");
  return line.split(" ").map(Number);
}

/** The code with which the server closes the connection of a page that has no token. */
async function answerTo(url: string, origin: string): Promise<number> {
  const socket = new WebSocket(url, SUBPROTOCOL, { headers: { origin } });
  socket.on("open", () => socket.send(encode({ type: "hello", version: PROTOCOL_VERSION })));
  const [code] = await once(socket, "close");
  return code;
}

describe("execwire serve", () => {
  it("reports with --verbose which processes begin and end, without their arguments", async () => {
    const { printed } = await user.serve(["--verbose"]);
    await user.cli(["run", "--remote", "--id", "one", "--", "sh", "-c", "exit 3 # secret"]);
    const log = await settled(
      () => printed.stderr,
      (text) => text.includes("ended"),
    );
    expect(log).toMatch(/^execwire: process one runs sh \(pid \d+\)\nexecwire: process one ended: exit code 3$/m);
    expect(log).not.toContain("secret");
  });

  it("prints its URL as the only line on stdout, and its log on stderr", async () => {
    const server = await user.serve();
    expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.printed).toEqual({
      stdout: `${server.url}\n`,
      stderr: [
        `execwire: listening on ${server.url}, token in ${user.file(`token-${server.child.pid}`)}`,
        "execwire: shutting down, ending all processes: SIGTERM",
        "",
      ].join("\n"),
    });
  });

  it("is found by commands in another terminal without an option", async () => {
    await user.serve();
    expect(await user.cli(["run", "--remote", "--", "sh", "-c", "echo hello; exit 3"])).toEqual({
      stdout: "hello\n",
      stderr: "",
      code: 3,
      signal: null,
    });
  });

  it("keeps its token where only its user can read it, and removes it at shutdown", async () => {
    const server = await user.serve();
    const tokenFile = user.file(`token-${server.child.pid}`);
    const runtimeFile = user.file("server.json");
    expect(readFileSync(tokenFile, "utf8")).toMatch(/^[\w-]{43}\n$/);
    expect([dirname(tokenFile), tokenFile, runtimeFile].map(modeOf)).toEqual(["700", "600", "600"]);
    expect(JSON.parse(readFileSync(runtimeFile, "utf8"))).toEqual({
      url: server.url,
      tokenFile,
      pid: server.child.pid,
    });
    server.child.kill("SIGTERM");
    await server.ended;
    expect(readdirSync(dirname(tokenFile))).toEqual([]);
  });

  it("shows its token in no argument, no environment of a process, and no log", async () => {
    const server = await user.serve();
    const token = readFileSync(user.file(`token-${server.child.pid}`), "utf8").trim();
    const [pid = 0] = await startStubborn();
    const shown = [server.child.pid, pid].flatMap((number) =>
      ["cmdline", "environ"].map((name) => readFileSync(`/proc/${number}/${name}`, "latin1")),
    );
    const listed = await user.cli(["ps", "--json"]);
    const all = [...shown, server.printed.stdout, server.printed.stderr, listed.stdout].join("\n");
    expect(all).toContain("sleep\x00300");
    expect(all).not.toContain(token);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "ends all its processes on %s, and exits with 0",
    async (signal) => {
      const server = await user.serve();
      const [pid = 0] = await startStubborn("(setsid sleep 300 &) ; echo $$; exec sleep 300");
      const before = isAlive(pid);
      server.child.kill(signal);
      expect({ before, ...(await server.ended), after: stateOf(pid) }).toEqual({
        before: true,
        code: 0,
        signal: null,
        after: undefined,
      });
    },
  );

  it("kills processes that ignore the first signal at the second one", async () => {
    const server = await user.serve(["--grace", "300"]);
    const [pid = 0] = await startStubborn("trap '' TERM; echo $$; while :; do sleep 0.1; done");
    server.child.kill("SIGTERM");
    await settled(
      () => server.printed.stderr,
      (text) => text.includes("ending"),
    );
    expect(isAlive(pid)).toBe(true);
    server.child.kill("SIGTERM");
    const ended = await server.ended;
    const alive = await settled(
      () => isAlive(pid),
      (is) => !is,
    );
    expect({ ...ended, alive }).toEqual({ code: 0, signal: null, alive: false });
  });

  it.each([
    ["--exit-on-stdin-close is given", ["--exit-on-stdin-close"], {}],
    ["the environment variable is set", [], { CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: "1" }],
  ])("shuts down with the end of its stdin if %s", async (_name, args, env) => {
    const server = await user.serve(args, env);
    const [pid = 0] = await startStubborn();
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    server.child.stdin?.end();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.printed.stderr).toContain("stdin was closed");
    expect(isAlive(pid)).toBe(false);
    expect(environment).not.toContain("STDIN_CLOSE");
  });

  it("removes an ended process after --keep-closed", async () => {
    await user.serve(["--keep-closed", "0.1"]);
    await user.cli(["run", "--remote", "--id", "brief", "--", "true"]);
    let listed = "[brief]";
    while (listed.includes("brief")) listed = (await user.cli(["ps", "--json"])).stdout;
    expect(listed).toBe("[]\n");
  });

  it("lets web pages of an allowed origin connect, and no others", async () => {
    const server = await user.serve(["--allow-origin", "https://a.example", "--allow-origin", "https://b.example"]);
    const origins = ["https://a.example", "https://b.example", "https://c.example"];
    expect(await Promise.all(origins.map((origin) => answerTo(server.url, origin)))).toEqual([4401, 4401, 4403]);
    const refusals = [
      "refused a connection: pages of the origin https://c.example may not connect (4403)",
      "refused a connection: the token is missing or wrong (4401)",
    ];
    const log = await settled(
      () => server.printed.stderr,
      (text) => refusals.every((line) => text.includes(line)),
    );
    for (const line of refusals) expect(log).toContain(line);
  });

  it.each(["", "0", "false"])("keeps running without stdin if the environment variable is %j", async (value) => {
    const server = await user.serve([], { CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: value });
    server.child.stdin?.end();
    expect(await user.cli(["run", "--remote", "--", "echo", "there"])).toMatchObject({ stdout: "there\n" });
    expect(server.child.exitCode).toBeNull();
  });
});
