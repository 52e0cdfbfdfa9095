// Starting a process at an exec-server: the message of a spec, local refusals, and the meaning of the server's refusals.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { ProcessSpec } from "../../../protocol/index.ts";
import { CodexClientWorld } from "../../support/codex-client.ts";
import { refusal } from "../../support/refusal.ts";

let world: CodexClientWorld;
beforeEach(async () => {
  world = await CodexClientWorld.open();
});
afterEach(() => world.close());

const base: ProcessSpec = { argv: ["program", "x"], processId: "p" };
const sent = {
  processId: "p",
  argv: ["program", "x"],
  cwd: "file:///home/of%20it",
  env: {},
  envPolicy: null,
  tty: false,
  pipeStdin: false,
  arg0: null,
};
const policy = { inherit: "core", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] } as const;

describe("a start at an exec-server", () => {
  it.each<[string, Partial<ProcessSpec>, object]>([
    ["by default in the server's directory", {}, {}],
    ["with a directory as a URI", { cwd: "/a b/%/é?#" }, { cwd: "file:///a%20b/%25/%C3%A9%3F%23" }],
    ["with an exact environment", { env: { A: "1" } }, { env: { A: "1" } }],
    ["with a policy in full", { envPolicy: { inherit: "core" } }, { envPolicy: policy }],
    [
      "with a name, a terminal and stdin",
      { arg0: "n", tty: true, pipeStdin: true },
      { arg0: "n", tty: true, pipeStdin: true },
    ],
    ["with a default terminal", { tty: { rows: 24, cols: 80, echo: true, raw: false } }, { tty: true }],
    ["with a thread", { env: { CODEX_THREAD_ID: "t" } }, { env: { CODEX_THREAD_ID: "t" } }],
    [
      "with a tool call, which the server accepts in metadata only",
      { env: { CODEX_THREAD_ID: "t", CODEX_TOOL_CALL_ID: "" } },
      { env: { CODEX_THREAD_ID: "t", CODEX_TOOL_CALL_ID: "" }, metadata: { threadId: "t", toolCallId: "" } },
    ],
    ["without options that the server does not know", { labels: { a: "b" }, onDetach: "terminate", merge: false }, {}],
  ])("is sent %s", async (_what, spec, params) => {
    const starting = world.backend.start({ ...base, ...spec });
    expect((await world.server.answer("process/start", { processId: "p" })).params).toEqual({ ...sent, ...params });
    await starting;
  });

  it.each<[string, Partial<ProcessSpec>]>([
    ["merge", { merge: true }],
    ["timeoutMs", { timeoutMs: 1 }],
    ["inheritFds", { inheritFds: [3] }],
    ["networkProxy", { networkProxy: { mode: "managed" } }],
    ["shellSnapshot", { argv: ["bash", "-lc", "true"], shellSnapshot: { scope: "x" } }],
    ["onDetach", { onDetach: "keep" }],
    ["tty size", { tty: { rows: 25 } }],
    ["tty size", { tty: { cols: 81 } }],
    ["tty echo", { tty: { echo: false } }],
    ["tty raw", { tty: { raw: true } }],
  ])("is refused if it requests %s", async (what, spec) => {
    expect(await refusal(world.backend.start({ ...base, ...spec }))).toEqual({ code: "UNSUPPORTED", data: { what } });
    expect(await world.backend.list()).toEqual([]);
  });

  it.each([
    [-32602, "missing field `env`", undefined, { code: "INVALID_PARAMS", data: {} }],
    [-32600, "process p already exists", undefined, { code: "PROCESS_EXISTS", data: {} }],
    [
      -32600,
      "5 run, the limit liveProcesses is 5",
      undefined,
      { code: "LIMIT_EXCEEDED", data: { limit: "liveProcesses" } },
    ],
    [-32600, "something else", undefined, { code: "INTERNAL", data: {} }],
    [-32601, "does not implement `process/start` yet", undefined, { code: "UNSUPPORTED", data: {} }],
    [
      -32603,
      "No such file or directory (os error 2)",
      "spawnNotFound",
      { code: "SPAWN_FAILED", data: { kind: "not-found" } },
    ],
    [
      -32603,
      "Permission denied (os error 13)",
      "spawnPermissionDenied",
      { code: "SPAWN_FAILED", data: { kind: "not-executable" } },
    ],
    [-32603, "Exec format error (os error 8)", "spawnFailed", { code: "SPAWN_FAILED", data: { kind: "bad-format" } }],
    [
      -32603,
      "Argument list too long (os error 7)",
      "spawnFailed",
      { code: "SPAWN_FAILED", data: { kind: "arg-too-long" } },
    ],
    [
      -32603,
      "Too many open files (os error 24)",
      "spawnFailed",
      { code: "SPAWN_FAILED", data: { kind: "resource-exhausted" } },
    ],
    [-32603, "dup of fd 5 failed", undefined, { code: "SPAWN_FAILED", data: { kind: "failed" } }],
  ])("refused by the server with %i %s fails with our own error", async (code, message, kind, expected) => {
    const starting = refusal(world.backend.start(base));
    await world.server.refuse("process/start", code, message, kind ? { kind } : undefined);
    expect(await starting).toEqual(expected);
    expect(await refusal(world.backend.attach("p"))).toMatchObject({ code: "PROCESS_UNKNOWN" });
  });

  it("reports a message of several lines in one line", async () => {
    const starting = world.backend.start(base);
    await world.server.refuse("process/start", -32603, "Unable to spawn x because:\n  No viable candidates\n");
    await expect(starting).rejects.toThrow(/^cannot start program: Unable to spawn x because: No viable candidates$/);
  });

  it.each(["none", "linuxSeccomp", "macosSeatbelt", "windowsRestrictedToken", "of tomorrow"])(
    "reports the sandbox that the server names: %s",
    async (sandboxType) => {
      const starting = world.backend.start(base);
      await world.server.answer("process/start", { processId: "p", sandboxType });
      expect((await starting).info.sandbox).toBe(sandboxType);
    },
  );

  it("is cancelled by a terminate, and the process is then terminated in any case", async () => {
    const starting = refusal(world.backend.start(base));
    const { id } = await world.server.next("process/start");
    const process = await world.backend.attach("p");
    const ending = process.terminate();
    await world.server.answer("process/terminate", { running: false });
    expect(await ending).toEqual({ running: true });
    world.server.say({ id, result: { processId: "p" } });
    await world.server.answer("process/terminate", { running: true });
    expect(await starting).toEqual({ code: "START_CANCELLED", data: {} });
    expect(await world.backend.list()).toEqual([]);
  });
});
