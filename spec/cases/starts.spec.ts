// Reported bugs of starts: programs that cannot be started and why, and scripts of more than one line.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openExecSessions } from "../../lib/exec/sessions/sessions.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { encodeEvent, type ProcessSpec, SUBPROTOCOL } from "../../protocol/index.ts";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { exited } from "../support/transcript.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";
import { describeCases } from "./describe-cases.ts";

const env = { PATH: "/usr/bin:/bin" };
const scratch = makeScratch();
const file = scratch("file");
const loop = scratch("loop");
const locked = scratch("locked");
writeFileSync(file, "no program\n", { mode: 0o644 });
symlinkSync(loop, loop);
mkdirSync(locked);
chmodSync(locked, 0);

/** Root ignores permissions. */
const lockedCwd: [string, string, string][] =
  process.getuid?.() === 0 ? [] : [["may not be entered", "cwd-not-accessible", locked]];

describeCases("starts", (subject) => {
  const { start } = subject;
  const failed = (kind: string, path: string) => ({ code: "SPAWN_FAILED", data: { kind, path } });

  it.each([
    ["does not exist", "cwd-not-found", scratch("nope")],
    ["is a file", "cwd-not-directory", file],
    ["leads nowhere", "cwd-not-accessible", loop],
    ...lockedCwd,
  ])("P85 a working directory that %s is reported as the reason, and not the program", async (_what, kind, cwd) => {
    for (const tty of [false, true]) {
      expect(await refusal(start({ argv: ["/bin/echo", "x"], cwd, tty }))).toEqual(failed(kind, cwd));
    }
  });

  it("P87 a failed start is an error with the reason; 127 and 126 are ordinary exit codes", async () => {
    expect(await refusal(start({ argv: ["nosuchcmd"], env }))).toEqual(failed("not-found", "nosuchcmd"));
    expect(await refusal(start({ argv: [file], env }))).toEqual(failed("not-executable", file));
    expect(await refusal(start({ argv: [locked], env }))).toEqual(failed("is-directory", locked));
    for (const exitCode of [126, 127]) {
      const ended = await outcome(await start({ argv: sh(`exit ${exitCode}`) }));
      expect(ended).toMatchObject({ exitCode, signal: null });
    }
  });

  it("P88 an argument that is too long for the system is refused with its size, and stdin accepts as much", async () => {
    const text = "x".repeat(140_000);
    let starting: Promise<unknown> | undefined;
    expect(() => {
      starting = start({ argv: ["/bin/echo", text] });
      starting.catch(() => undefined);
    }).not.toThrow();
    expect(await refusal(starting as Promise<unknown>)).toEqual(failed("arg-too-long", "/bin/echo"));
    await expect(starting).rejects.toThrow(/^argument 1 has 140000 bytes.* 131071\b.*stdin/);
    const counting = await start({ argv: ["wc", "-c"], env, pipeStdin: true });
    await counting.write(text);
    await counting.closeStdin();
    expect((await outcome(counting)).stdout).toBe("140000\n");
  });

  it("P96 a working directory that is removed under a program affects only that program", async () => {
    const cwd = scratch(uniqueName("cwd"));
    mkdirSync(cwd);
    const script = "read -r _; ls || echo not listed; ls . ; cat ./file || echo no file";
    const process = await start({ argv: sh(script), cwd, env, pipeStdin: true });
    rmSync(cwd, { recursive: true });
    await process.write("\n");
    const { stdout, stderr, exitCode } = await outcome(process);
    expect([stdout, exitCode]).toEqual(["no file\n", 0]);
    expect(stderr).toMatch(/file/);
    expect(await refusal(start({ argv: ["true"], cwd, env }))).toEqual(failed("cwd-not-found", cwd));
    expect(await outcome(await start({ argv: ["pwd"], cwd: "/", env }))).toMatchObject({ stdout: "/\n", exitCode: 0 });
  });

  it("P97 a script of many lines with a here-document exits with its own code", async () => {
    const script = ["cat <<'E'", "one $HOME", "exit 1", "E", "echo two", "exit 5"].join("\n");
    expect(await outcome(await start({ argv: sh(script), env }))).toMatchObject({
      stdout: "one $HOME\nexit 1\ntwo\n",
      exitCode: 5,
    });
  });

  it("P97 nothing that a program prints is mistaken for its end", async () => {
    const frame = Buffer.from(encodeEvent(1, exited(1)));
    const markers = ["###SWEREX-BASH-MARKER###", "EXITSTATUS=0", "\u0000\u0004\u001a", frame.toString("latin1")];
    writeFileSync(scratch("markers"), markers.join("\n"), "latin1");
    const process = await start({ argv: sh('cat "$1"; read -r _; exit 3', scratch("markers")), env, pipeStdin: true });
    const shown = await printed(process, frame.toString("latin1"));
    expect([shown, process.info.state]).toEqual([markers.join("\n"), "running"]);
    await process.write("\n");
    expect((await outcome(process)).exitCode).toBe(3);
  });

  it("P97 a shell on a terminal accepts a here-document and continues", async () => {
    await using sessions = openExecSessions(subject.backend);
    const shell = await sessions.start({ argv: ["/bin/sh"], env: { ...env, PS1: "$ " }, tty: true, quietMs: 0 });
    const sessionId = shell.sessionId as number;
    const chars = "cat <<'E' | tr a-z A-Z\nread me\nE\nexit 4\n";
    const { head, exitCode } = await sessions.write(sessionId, { chars, yieldMs: 10_000 });
    expect(head).toContain("READ ME\r\n");
    expect(exitCode).toBe(4);
  });

  it.each<[what: string, field: string, spec: ProcessSpec]>([
    ["a NUL in an argument", "argv[1]", { argv: ["echo", "a\0b"] }],
    ["a NUL in the program", "argv[0]", { argv: ["ec\0ho"] }],
    ["a NUL in a variable", "env.A", { argv: ["true"], env: { A: "a\0b" } }],
    ["no argv", "argv", { argv: [] }],
    ["no program", "argv[0]", { argv: [""] }],
  ])("P99 %s is refused, and the refusal names the field", async (_what, field, spec) => {
    expect(await refusal(start(spec))).toEqual({ code: "INVALID_PARAMS", data: { field } });
  });
});

describe("starts by another client", () => {
  let host: WireHost;
  beforeAll(async () => {
    host = await WireHost.open();
  });
  afterAll(() => host.close());

  it("P99 the server itself refuses a NUL, even if the client does not check", async () => {
    const bounds = { frameBytes: 1e6, handshakeMs: 5_000 };
    const peer = new WirePeer(await openWebSocket(host.server.url as string, SUBPROTOCOL, bounds)());
    peer.hello(TOKEN);
    peer.request(1, "process/start", { spec: { argv: ["touch", `${scratch("touched")}\0b`] }, incarnation: "one" });
    peer.request(2, "process/start", { spec: { argv: [] }, incarnation: "two" });
    const refused = (field: string) => ({ error: { code: "INVALID_PARAMS", data: { field } } });
    expect([await peer.reply(1), await peer.reply(2)]).toMatchObject([refused("argv[1]"), refused("argv")]);
    expect(existsSync(scratch("touched"))).toBe(false);
    peer.transport.terminate();
  });
});
