// The commands of a process at an exec-server: their requests, what is answered locally, and what is refused.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { CodexClientWorld } from "../../support/codex-client.ts";
import { exitOf } from "../../support/outcome.ts";
import { refusal } from "../../support/refusal.ts";
import { exited } from "../../support/transcript.ts";

let world: CodexClientWorld;
beforeEach(async () => {
  world = await CodexClientWorld.open();
});
afterEach(() => world.close());

const unsupported = (what: string) => ({ code: "UNSUPPORTED", data: { what } });

describe("signals and ends", () => {
  it("interrupts the group, and refuses every other signal and scope by name", async () => {
    const process = await world.start();
    const interrupting = process.signal("SIGINT");
    const { params } = await world.server.answer("process/signal", {});
    await interrupting;
    expect(params).toEqual({ processId: "p", signal: "interrupt" });
    expect(await refusal(process.signal("SIGTERM"))).toEqual(unsupported("signal SIGTERM"));
    expect(await refusal(process.signal("SIGINT", { scope: "tree" }))).toEqual(unsupported("scope tree"));
    expect(await refusal(process.resize({ rows: 1, cols: 1 }))).toEqual({ code: "UNSUPPORTED", data: {} });
    expect(await refusal(process.holders())).toEqual(unsupported("holders"));
    expect(await refusal(process.activity())).toEqual(unsupported("activity"));
  });

  it("kills at once, and refuses a grace and every scope but the group", async () => {
    const process = await world.start();
    expect(await refusal(process.terminate({ graceMs: 1 }))).toEqual(unsupported("graceMs"));
    expect(await refusal(process.terminate({ scope: "tree" }))).toEqual(unsupported("scope tree"));
    const ending = process.terminate({ scope: "group", graceMs: 0 });
    expect((await world.server.answer("process/terminate", { running: true })).params).toEqual({ processId: "p" });
    expect(await ending).toEqual({ running: true });
    world.server.exited(1, 137);
    expect(await exitOf(process)).toEqual(exited(1, { exitCode: 137, result: "terminated", reason: "terminate" }));
    expect(await process.terminate({ graceMs: 1 })).toEqual({ running: false });
    expect(await refusal(process.terminate({ scope: "group" }))).toEqual(unsupported("scope group after the exit"));
    world.server.closed(2);
    await world.server.taken();
    expect(await process.terminate({ scope: "tree" })).toEqual({ running: false });
  });

  it.each([
    ["137 on a pipe is its end", false, 137, { result: "terminated", reason: "terminate" }],
    ["1 on a tty is its end", true, 1, { result: "terminated", reason: "terminate" }],
    ["any other number is the program's own", false, 3, { result: "error", reason: "exited" }],
  ] as const)("that is reported before the reply to terminate: %s", async (_what, tty, exitCode, facts) => {
    const process = await world.start({ tty });
    const ending = process.terminate();
    const { id } = await world.server.next("process/terminate");
    world.server.exited(1, exitCode);
    expect(await exitOf(process)).toEqual(exited(1, { exitCode, ...facts }));
    world.server.say({ id, result: { running: true } });
    await ending;
  });

  it.each([
    ["a number above 128 as an ordinary exit code", 137, { exitCode: 137, result: "error" }],
    ["an unknown status as unknown", -1, { exitCode: null, result: "error", reason: "lost" }],
  ] as const)("reports %s", async (_what, exitCode, facts) => {
    const process = await world.start();
    world.server.exited(1, exitCode);
    expect(await exitOf(process)).toEqual(exited(1, facts));
  });

  it("does not report an exit as terminated if the termination came too late", async () => {
    const process = await world.start();
    const ending = process.terminate();
    await world.server.answer("process/terminate", { running: false });
    expect(await ending).toEqual({ running: false });
    world.server.exited(1, 137);
    expect(await exitOf(process)).toMatchObject({ reason: "exited" });
  });

  it("is disposed of as far as the protocol allows", async () => {
    const process = await world.start();
    const disposing = process[Symbol.asyncDispose]();
    // Its group, since the protocol has no scopes.
    expect((await world.server.answer("process/terminate", { running: true })).params).toEqual({ processId: "p" });
    world.server.exited(1, 137);
    await exitOf(process);
    const order: string[] = [];
    process.closed$.subscribe(() => order.push("closed"));
    const disposed = disposing.then(() => order.push("disposed"));
    await world.server.taken();
    expect(order).toEqual([]);
    world.server.closed(2);
    await disposed;
    expect(order).toEqual(["closed", "disposed"]);
  });
});

describe("stdin at an exec-server", () => {
  it("sends every write with an id, one after another", async () => {
    const process = await world.start({ pipeStdin: true });
    const writes = [process.write("a", { writeId: "mine" }), process.write("b"), process.write("c")];
    const first = await world.server.next("process/write");
    await world.server.taken();
    expect(world.server.methods.filter((method) => method === "process/write")).toHaveLength(1);
    world.server.say({ id: first.id, result: { status: "accepted" } });
    const others = [
      await world.server.answer("process/write", { status: "accepted" }),
      await world.server.answer("process/write", { status: "stdinClosed" }),
    ];
    expect(await Promise.all(writes)).toEqual(["accepted", "accepted", "stdinClosed"]);
    const ids = [first, ...others].map(({ params }) => params?.writeId);
    expect(ids[0]).toBe("mine");
    expect(new Set(ids).size).toBe(3);
    // The client remembers what was accepted.
    expect(await process.write("a", { writeId: "mine" })).toBe("accepted");
    expect(await refusal(process.write("x", { writeId: "mine" }))).toMatchObject({ code: "WRITE_ID_CONFLICT" });
  });

  it("is closed unless it was requested, and after the exit", async () => {
    const process = await world.start();
    expect([await process.write("x"), await process.closeStdin()]).toEqual(["stdinClosed", "stdinClosed"]);
    const piped = await world.start({ processId: "q", pipeStdin: true });
    expect(await refusal(piped.closeStdin())).toEqual(unsupported("closeStdin"));
    world.server.exited(1, 0, "q");
    await exitOf(piped);
    expect([await piped.write("x"), await piped.closeStdin()]).toEqual(["stdinClosed", "stdinClosed"]);
    expect(world.server.methods).toEqual(["process/start", "process/start"]);
  });

  it.each([
    ["at the start of a line", "line\n", [4]],
    ["in the middle of a line", "li", [4, 4]],
  ])("is ended on a tty with the end-of-file character, %s", async (_what, typed, expected) => {
    const process = await world.start({ tty: true });
    const answers = [process.write(typed), process.closeStdin(), process.closeStdin(), process.write("late")];
    await world.server.answer("process/write", { status: "accepted" });
    const { params } = await world.server.answer("process/write", { status: "accepted" });
    expect([...Buffer.from(String(params?.chunk), "base64")]).toEqual(expected);
    expect(await Promise.all(answers)).toEqual(["accepted", "accepted", "accepted", "stdinClosed"]);
  });

  it("reports a process that the server has removed", async () => {
    const process = await world.start({ pipeStdin: true });
    const writing = process.write("x");
    await world.server.answer("process/write", { status: "unknownProcess" });
    expect(await writing).toBe("unknownProcess");
  });

  it("fails on an invalid reply of the server", async () => {
    const process = await world.start({ pipeStdin: true });
    const writing = refusal(process.write("x"));
    await world.server.answer("process/write", { status: "maybe" });
    expect(await writing).toEqual({ code: "PROTOCOL_VIOLATION", data: {} });
  });
});
