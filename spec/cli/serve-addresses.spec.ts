// Other addresses of `execwire serve`: a unix socket, and stdin and stdout, connected to the program that started it.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { connect } from "../../lib/index.ts";
import { streamTransport } from "../../lib/transport/stream.ts";
import { type ClientMessage, encode, limits, PROTOCOL_VERSION } from "../../protocol/index.ts";
import { outcome } from "../support/outcome.ts";
import { childrenOf, isAlive } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const user = makeSurroundings();
const command = cliArgv("serve", "--listen", "stdio");

describe("execwire serve --listen unix:PATH", () => {
  it("serves a socket that only its user can use, and removes it at shutdown", async () => {
    const path = join(user.runtimeDir, "socket");
    const server = await user.serve(["--listen", `unix:${path}`]);
    expect(server.url).toBe(`unix:${path}`);
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe("600");
    expect(await user.cli(["run", "--remote", "--", "echo", "hello"])).toMatchObject({ stdout: "hello\n", code: 0 });
    expect(await user.cli(["ps", "--url", server.url])).toMatchObject({ code: 0 });
    server.child.kill();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("execwire serve --listen stdio", () => {
  const before = childrenOf(process.pid);
  const servers = () => childrenOf(process.pid).filter((pid) => !before.includes(pid) && isAlive(pid));
  afterAll(() => expect(servers()).toEqual([]));

  it("serves the program that started it, and ends with the connection", async () => {
    const backend = await connect({ command });
    const [server = 0] = servers();
    const process = await backend.start({ argv: ["sh", "-c", "echo hello; exit 3"], envPolicy: { inherit: "core" } });
    expect(await outcome(process)).toMatchObject({ stdout: "hello\n", exitCode: 3 });
    await backend.close();
    expect(
      await settled(
        () => isAlive(server),
        (alive) => !alive,
      ),
    ).toBe(false);
  });

  it("passes its own launch context to no process, in any letter case", async () => {
    const own = ["NODE_REPL_AUTH_TOKEN=server", "openai_identity_token_file=server", "KEPT=server"];
    const backend = await connect({ command: ["env", ...own, ...command] });
    const process = await backend.start({
      argv: ["env"],
      envPolicy: { inherit: "all", ignoreDefaultExcludes: true },
    });
    const { stdout } = await outcome(process);
    await backend.close();
    expect(stdout.split("\n").filter((line) => line.endsWith("=server"))).toEqual(["KEPT=server"]);
  });

  it("ends its processes when the program that started it is killed", async () => {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    const ended = once(child, "close");
    child.stdin.end();
    child.stdout.resume();
    let log = "";
    for await (const piece of child.stderr) log += piece;
    expect([await ended, log]).toEqual([
      [0, null],
      "execwire: serving stdin and stdout\nexecwire: shutting down, ending all processes: the client is gone\n",
    ]);
  });

  it("keeps running while its client does not read", async () => {
    const flooded = join(user.runtimeDir, "flooded");
    const [program = "", ...args] = command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
    const ended = once(child, "close");
    // Without a listener, stdout is never read.
    const transport = streamTransport(child.stdout, child.stdin, limits.frameBytes);
    transport.send(encode({ type: "hello", version: PROTOCOL_VERSION }));
    const spec = { argv: ["/bin/sh", "-c", "yes | head -c 5000000; : > $0", flooded] };
    const params = { spec, incarnation: randomUUID(), subscribe: "gap" };
    transport.send(encode({ type: "request", id: 1, acked: [], method: "process/start", params } as ClientMessage));
    const isThere = () => existsSync(flooded);
    const goesOn = await settled(isThere, (is) => is);
    transport.terminate();
    child.stdout.destroy();
    if (!goesOn) child.kill("SIGKILL");
    expect([goesOn, await ended]).toEqual([true, [0, null]]);
  });
});
