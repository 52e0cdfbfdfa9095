// `serve --listen stdio --shared`, as ssh starts it: a relay to the server of this machine, which outlives the connection.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom, lastValueFrom, map, reduce, tap, toArray } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { lines } from "../../lib/process/lines.ts";
import { text } from "../../lib/process/text.ts";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { allGone } from "../support/trees.ts";

const user = makeSurroundings();
const at = makeScratch();
const pidFile = at("relay.pid");
/** Starts a relay, whose pid is in the file. */
const command = [
  ...["env", `XDG_RUNTIME_DIR=${user.runtimeDir}`, "sh", "-c", `echo $$ >${pidFile}; exec "$@" 2>/dev/null`, "sh"],
  ...cliArgv("serve", "--listen", "stdio", "--shared"),
];
const core = { inherit: "core" } as const;
const published = () =>
  JSON.parse(readFileSync(user.file("server.json"), "utf8")) as { pid: number; url: string; tokenFile: string };
const relayPid = () => Number(readFileSync(pidFile, "utf8"));

const clients: RemoteBackend[] = [];
async function connected(address: Parameters<typeof connect>[0] = { command }): Promise<RemoteBackend> {
  const client = await connect(address);
  clients.push(client);
  return client;
}
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  if (!existsSync(user.file("server.json"))) return;
  const { pid } = published();
  process.kill(pid);
  await allGone(pid);
});

describe("a relay to the shared server", () => {
  it("is killed again and again: no line is lost, no input arrives twice, no process ends", async () => {
    const client = await connected();
    const { pid } = published();
    const count = 100_000;
    const script = `i=0; while [ $i -lt ${count} ]; do echo $i; i=$((i+1)); done; while read -r line; do echo "got $line"; done`;
    const child = await client.start({ argv: ["sh", "-c", script], pipeStdin: true, envPolicy: core });
    const answer = async () => {
      const writes = ["one\n", "two\n", "three\n"].map((input) => child.write(input));
      process.kill(relayPid(), "SIGKILL");
      const statuses = await Promise.all(writes);
      await child.closeStdin();
      return statuses;
    };
    let seen = 0;
    let statuses: Promise<readonly string[]> | undefined;
    const all = await lastValueFrom(
      lines(child).pipe(
        map((line) => line.text),
        tap(() => {
          seen += 1;
          if (seen === count) statuses = answer();
          else if (seen % 30_000 === 0) process.kill(relayPid(), "SIGKILL");
        }),
        toArray(),
      ),
    );
    expect(await statuses).toEqual(["accepted", "accepted", "accepted"]);
    expect(all.slice(0, count)).toEqual(Array.from({ length: count }, (_, index) => String(index)));
    expect(all.slice(count)).toEqual(["got one", "got two", "got three"]);
    expect(published().pid).toBe(pid);
  }, 60_000);

  it("starts one server, however many are started at once, and leaves it running", async () => {
    const [first, second] = await Promise.all([connected(), connected(), connected(), connected()]);
    const child = await (first as RemoteBackend).start({
      argv: ["sleep", "300"],
      processId: "stays",
      onDetach: "keep",
      envPolicy: core,
    });
    expect((await (second as RemoteBackend).attach("stays")).info.pid).toBe(child.info.pid);
    await Promise.all(clients.splice(0).map((client) => client.close()));
    expect(isAlive(child.info.pid as number)).toBe(true);
    expect((await user.cli(["ps"])).stdout).toContain("sleep 300");
    await (await (await connected()).attach("stays")).terminate({ graceMs: 0 });
  });

  it.each(["", "the dead"])(
    "reports what it started or attached to, after a lock that was left by %j",
    async (owner) => {
      const log = at("relay.log");
      const talking = command.map((part) => part.replace("2>/dev/null", `2>>${log}`));
      mkdirSync(join(user.runtimeDir, "execwire"), { recursive: true, mode: 0o700 });
      const dead = spawnSync("sh", ["-c", "echo $$"]).stdout.toString();
      writeFileSync(user.file("starting"), owner === "" ? "" : dead);
      writeFileSync(log, "");
      await connected({ command: talking });
      await connected({ command: talking });
      const { pid, url } = published();
      expect(readFileSync(log, "utf8").trim().split("\n")).toEqual([
        `execwire: started a server (pid ${pid}), which keeps running; its log is ${user.file("serve.log")}`,
        `execwire: attached to the server with pid ${pid} at ${url}`,
      ]);
      expect(readdirSync(user.file("")).filter((name) => name.startsWith("starting"))).toEqual([]);
    },
  );

  it("ends and says what to do when the token file is gone", async () => {
    const log = at("relay.log");
    await connected();
    const { pid, tokenFile } = published();
    rmSync(tokenFile);
    const talking = command.map((part) => part.replace("2>/dev/null", `2>${log}`));
    await expect(connect({ command: talking })).rejects.toThrow(/exited with 69/);
    expect(readFileSync(log, "utf8")).toMatch(
      new RegExp(`${tokenFile}.*end that server with all its processes, and connect again: kill ${pid}\n$`),
    );
  });

  it("serves a client of the Codex protocol, one message per line", async () => {
    const [program = "", ...args] = command;
    const relay = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    const params = { clientName: "spec" };
    relay.stdin.write(`${JSON.stringify({ id: 1, method: "initialize", params })}\n`);
    let answer: unknown;
    for await (const line of createInterface(relay.stdout)) {
      answer = JSON.parse(line);
      break;
    }
    expect(answer).toMatchObject({ id: 1, result: {} });
    relay.kill();
  });

  it("is started through ssh for an address that begins with ssh://", async () => {
    // What ssh does: the user's shell on the other machine gets the last argument.
    const folder = at("bin");
    const shell = (script: string) => `#!/bin/sh\n${script}\n`;
    const scripts = {
      ssh: shell(`echo "$@" >${at("arguments")}; for last; do :; done; exec sh -c "$last"`),
      execwire: shell(`exec ${cliArgv().join(" ")} "$@" 2>/dev/null`),
    };
    mkdirSync(folder);
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(`${folder}/${name}`, script);
      chmodSync(`${folder}/${name}`, 0o755);
    }
    Object.assign(process.env, { PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: user.runtimeDir });
    const client = await connected("ssh://me@host.example:2222");
    const child = await client.start({ argv: ["echo", "through ssh"], envPolicy: core });
    expect(await firstValueFrom(text(child).pipe(reduce((all, piece) => all + piece)))).toBe("through ssh\n");
    expect(readFileSync(at("arguments"), "utf8")).toBe(
      "-T -p 2222 -- me@host.example execwire serve --listen stdio --shared\n",
    );
  });

  it.each(["ssh://", "ssh://-oProxyCommand=x", "ssh://host/path", "ssh://a b"])(
    "refuses the address %s",
    async (url) => {
      await expect(connect(url)).rejects.toMatchObject({ code: "INVALID_PARAMS", data: { field: "url" } });
    },
  );
});
