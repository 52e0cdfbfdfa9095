// What `execwire serve` refuses or distrusts: readable files, directories of other users, files of dead servers.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { runProgram } from "../support/system-run.ts";
import { Surroundings } from "../support/system-server.ts";

let user: Surroundings;
beforeEach(() => {
  user = new Surroundings();
});
afterEach(() => user.end());

const refusal = (message: RegExp, code: number) => ({
  stdout: "",
  stderr: expect.stringMatching(message),
  code,
  signal: null,
});

/** The pid of a process that has ended. */
async function pidOfTheDead(): Promise<number> {
  return Number((await runProgram(["sh", "-c", "echo $$"])).stdout);
}

describe("execwire serve", () => {
  it("refuses to be open to other machines without a token", async () => {
    const ran = await user.cli(["serve", "--listen", "ws://0.0.0.0:0", "--auth", "none"]);
    expect(ran).toEqual(refusal(/^execwire: without a token only this machine may connect, .*0\.0\.0\.0.*\n$/, 125));
  });

  it.each([
    ["an address that it does not know", ["--listen", "tcp:1234"]],
    ["a port that does not exist", ["--listen", "ws://127.0.0.1:99999"]],
    ["an unknown kind of authentication", ["--auth", "password"]],
    ["a token file without a token", ["--auth", "none", "--token-file", "t"]],
  ])("refuses %s", async (_name, args) => {
    expect(await user.cli(["serve", ...args])).toEqual(refusal(/^(error|execwire): .+/, 2));
  });

  it("reports that a port is in use, and leaves no token behind", async () => {
    const { url } = await user.serve();
    const ran = await user.cli(["serve", "--listen", url]);
    expect(ran).toEqual(refusal(/^execwire: .*another program listens on port.*\n$/, 125));
    const { stdout } = await runProgram(["ls", user.file(".")]);
    expect(stdout).toMatch(/^server\.json\ntoken-\d+\n$/);
  });

  it("refuses a token file that other users can read", async () => {
    const path = join(user.runtimeDir, "token");
    writeFileSync(path, "secret-secret\n", { mode: 0o644 });
    const ran = await user.cli(["serve", "--token-file", path]);
    expect(ran).toEqual(refusal(/^execwire: the token file .* can be read by other users; run: chmod 600 .*\n$/, 125));
    expect(ran.stderr).not.toContain("secret-secret");
  });

  it("refuses a token file without a token in it", async () => {
    const path = join(user.runtimeDir, "token");
    writeFileSync(path, "\n", { mode: 0o600 });
    expect(await user.cli(["serve", "--token-file", path])).toEqual(refusal(/^execwire: .* holds no token/, 125));
  });

  it("uses the token of a file, and creates the file if there is none, for the next time too", async () => {
    const path = join(user.runtimeDir, "token");
    const first = await user.serve(["--token-file", path]);
    const token = readFileSync(path, "utf8");
    first.child.kill();
    await first.ended;
    const second = await user.serve(["--token-file", path]);
    expect(readFileSync(path, "utf8")).toBe(token);
    const env = { XDG_RUNTIME_DIR: "/nowhere", EXECWIRE_TOKEN: token.trim() };
    expect(await user.cli(["ps", "--url", second.url], { env })).toMatchObject({ code: 0, stderr: "" });
  });

  it.each([
    ["a symlink", (path: string) => symlinkSync("/tmp", path), /is not a directory/],
    ["open to others", (path: string) => mkdirSync(path), /is accessible to other users; run: chmod 700/],
  ])("writes no token into a runtime directory that is %s", async (_name, make, message) => {
    make(user.file("."));
    if (!existsSync(user.file("."))) throw new Error("not made");
    if (message.source.includes("open")) chmodSync(user.file("."), 0o755);
    const [serve, ps] = await Promise.all([user.cli(["serve"]), user.cli(["ps"])]);
    expect([serve, ps]).toEqual([refusal(message, 125), refusal(message, 125)]);
  });

  it("replaces a server that was killed, and removes its token file", async () => {
    const killed = await user.serve();
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(existsSync(user.file(`token-${killed.child.pid}`))).toBe(true);
    expect(await user.cli(["ps"])).toEqual(
      refusal(/^execwire: no server was found in .* or .*; start one with: execwire serve/, 69),
    );
    const next = await user.serve();
    expect(existsSync(user.file(`token-${killed.child.pid}`))).toBe(false);
    expect(JSON.parse(readFileSync(user.file("server.json"), "utf8"))).toMatchObject({ url: next.url });
    expect(await user.cli(["ps"])).toMatchObject({ code: 0 });
  });

  it("replaces a dead server whose pid is used by another program now", async () => {
    const first = await user.serve();
    first.child.kill("SIGKILL");
    await first.ended;
    const left = JSON.parse(readFileSync(user.file("server.json"), "utf8"));
    writeFileSync(user.file("server.json"), JSON.stringify({ ...left, pid: process.pid }));
    const next = await user.serve();
    expect(JSON.parse(readFileSync(user.file("server.json"), "utf8"))).toMatchObject({ url: next.url });
  });

  it("does not replace a running server, and reports that", async () => {
    const first = await user.serve();
    const second = await user.serve();
    expect(second.printed.stderr).toContain(`other terminals use the server with pid ${first.child.pid}`);
    second.child.kill();
    await second.ended;
    expect(JSON.parse(readFileSync(user.file("server.json"), "utf8"))).toMatchObject({ url: first.url });
    expect(await user.cli(["ps"])).toMatchObject({ code: 0 });
  });

  it("is not found by its file after it has ended", async () => {
    mkdirSync(user.file("."), { mode: 0o700 });
    writeFileSync(user.file("server.json"), JSON.stringify({ url: "ws://127.0.0.1:1", pid: await pidOfTheDead() }));
    expect(await user.cli(["ps"])).toEqual(refusal(/^execwire: no server was found/, 69));
    writeFileSync(user.file("server.json"), "half a fi");
    expect(await user.cli(["ps"])).toEqual(refusal(/^execwire: no server was found/, 69));
  });
});

describe("a client of execwire serve", () => {
  it("explains how to start a server if there is none", async () => {
    const ran = await user.cli(["ps", "--url", "ws://127.0.0.1:1"]);
    expect(ran).toEqual(
      refusal(/^execwire: no server at ws:\/\/127\.0\.0\.1:1: .*; start one with: execwire serve\n$/, 69),
    );
  });

  it("exits with 77 if its token is wrong, and explains where to put the right one", async () => {
    await user.serve();
    const ran = await user.cli(["ps"], { env: { EXECWIRE_TOKEN: "wrong" } });
    expect(ran).toEqual(refusal(/^execwire: .*token.*; pass the token .* with --token-file or EXECWIRE_TOKEN\n$/, 77));
  });

  it("does not send the local server's token to another server", async () => {
    const local = await user.serve();
    const other = new Surroundings();
    try {
      const stranger = await other.serve();
      expect(await user.cli(["ps", "--url", stranger.url])).toMatchObject({ code: 77 });
      expect(await user.cli(["ps", "--url", local.url])).toMatchObject({ code: 0 });
    } finally {
      await other.end();
    }
  });

  it.each(["EXECWIRE_TOKEN", "EXECWIRE_TOKEN_FILE", "--token-file"])("reads the token from %s", async (source) => {
    const { url, child } = await user.serve();
    const path = user.file(`token-${child.pid}`);
    const env = {
      XDG_RUNTIME_DIR: "/nowhere",
      EXECWIRE_URL: url,
      ...(source === "EXECWIRE_TOKEN" && { EXECWIRE_TOKEN: readFileSync(path, "utf8").trim() }),
      ...(source === "EXECWIRE_TOKEN_FILE" && { EXECWIRE_TOKEN_FILE: path }),
    };
    const args = source === "--token-file" ? ["ps", "--token-file", path] : ["ps"];
    expect(await user.cli(args, { env })).toMatchObject({ code: 0, stderr: "" });
  });

  it("needs no token for a server without authentication", async () => {
    const { url, printed } = await user.serve(["--auth", "none"]);
    expect(printed.stderr).toContain("every user of this machine can run commands as you");
    expect(await user.cli(["ps", "--url", url], { env: { XDG_RUNTIME_DIR: "/nowhere" } })).toMatchObject({ code: 0 });
  });
});
