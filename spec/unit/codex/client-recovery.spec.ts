// A client of an exec-server that has lost its connection: it resumes its session, reads what it missed,
// and repeats exactly the requests that may be repeated.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { connectCodex } from "../../../lib/codex/client/connect-codex.ts";
import { limits } from "../../../protocol/index.ts";
import { CodexClientWorld } from "../../support/codex-client.ts";
import { readAnswer } from "../../support/codex-script.ts";
import { refusal } from "../../support/refusal.ts";
import { closed, exited, output, transcript } from "../../support/transcript.ts";

const NOTHING_NEW = readAnswer(1, []);

describe("a client that lost its connection", () => {
  let world: CodexClientWorld;
  beforeEach(async () => {
    world = await CodexClientWorld.open();
  });
  afterEach(() => world.close());

  it("resumes its session, even if the lost connection still has it, and reads what it missed", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    await world.server.taken();
    await world.reconnect();
    const refused = await world.server.refuse(
      "initialize",
      -32010,
      "session is already attached to another connection",
    );
    expect(refused.params).toEqual({ clientName: "execwire", resumeSessionId: "the session" });
    await world.comeBack();
    expect((await world.server.welcome()).params).toEqual(refused.params);
    // Live events may come before the reply.
    world.server.output(4, "d");
    const read = await world.server.answer(
      "process/read",
      readAnswer(4, [
        [2, "b"],
        [3, "c"],
      ]),
    );
    expect(read.params).toMatchObject({ processId: "p", afterSeq: 1 });
    world.server.exited(5);
    world.server.closed(6);
    expect(await transcript(process)).toEqual([
      ...["a", "b", "c", "d"].map((text, index) => output(index + 1, "stdout", text)),
      exited(5),
      closed(6, { stdout: 4 }),
    ]);
  });

  it("answers a read only when it has read what it missed", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    await world.server.taken();
    await world.reconnect();
    const controller = new AbortController();
    const aborted = process.read({ afterSeq: 1, waitMs: 0, signal: controller.signal });
    controller.abort("enough");
    await expect(aborted).rejects.toBe("enough");
    let isAnswered = false;
    const reading = process.read({ afterSeq: 1, waitMs: 0 });
    void reading.then(() => {
      isAnswered = true;
    });
    await world.server.welcome();
    expect(isAnswered).toBe(false);
    await world.server.answer("process/read", readAnswer(3, [[2, "b"]]));
    const { chunks } = await reading;
    expect(chunks.map(({ chunk }) => Buffer.from(chunk).toString())).toEqual(["b"]);
  });

  it("learns of an end that it missed", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    await world.server.taken();
    await world.reconnect();
    await world.server.welcome();
    const over = { exited: true, exitCode: 2, closed: true };
    await world.server.answer("process/read", readAnswer(5, [[2, "b"]], over));
    expect(await transcript(process)).toEqual([
      output(1, "stdout", "a"),
      output(2, "stdout", "b"),
      exited(3, { exitCode: 2, result: "error" }),
      closed(4, { stdout: 2 }),
    ]);
  });

  it.each([
    ["is no longer known", (w: CodexClientWorld) => w.server.refuse("initialize", -32600, "unknown session id x")],
    ["is another one", (w: CodexClientWorld) => w.server.answer("initialize", { sessionId: "another" })],
  ])("gives up if its session %s", async (_what, refuse) => {
    const process = await world.start();
    await world.reconnect();
    await refuse(world);
    const lost = { code: "CONNECTION_LOST", data: { reason: "session-unknown" } };
    expect(await refusal(transcript(process))).toEqual(lost);
    expect(await refusal(process.write("x"))).toMatchObject({ code: "CONNECTION_LOST" });
    expect(world.backend.link.state).toBe("closed");
  });

  it("gives up if it cannot reconnect in time", async () => {
    const process = await world.start();
    await world.script.close();
    await world.recovering();
    world.clock.advance(limits.recoveryMs);
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    expect(await refusal(transcript(process))).toEqual(lost);
    expect(await refusal(world.backend.start({ argv: ["x"], cwd: "/" }))).toEqual(lost);
  });

  it("repeats a write with the same id, and a termination", async () => {
    const process = await world.start({ pipeStdin: true });
    const writing = process.write("once");
    const { params } = await world.server.next("process/write");
    const ending = process.terminate();
    await world.server.next("process/terminate");
    await world.reconnect();
    await world.server.welcome();
    await world.server.answer("process/read", NOTHING_NEW);
    const again = await world.server.answer("process/write", { status: "accepted" });
    expect(again.params).toEqual(params);
    expect(params).toEqual({ processId: "p", chunk: "b25jZQ==", writeId: expect.stringMatching(/./) });
    await world.server.answer("process/terminate", { running: true });
    expect([await writing, await ending]).toEqual(["accepted", { running: true }]);
  });

  it("does not repeat an interrupt that may have arrived, and reports that", async () => {
    const process = await world.start();
    const signalling = refusal(process.signal("SIGINT"));
    await world.server.next("process/signal");
    await world.reconnect();
    await world.server.welcome();
    expect(await signalling).toEqual({ code: "CONNECTION_LOST", data: { reason: "unconfirmed" } });
    await world.server.answer("process/read", NOTHING_NEW);
    await world.server.taken();
    expect(world.server.methods).toEqual(["process/read"]);
  });

  it("sends calls made without a connection later", async () => {
    const process = await world.start();
    world.server.cut();
    await world.recovering();
    const signalling = process.signal("SIGINT");
    world.clock.advance(50);
    world.server = await world.script.connection();
    await world.server.welcome();
    await world.server.answer("process/signal", {});
    await signalling;
  });

  it("repeats a start that the server has not received", async () => {
    const starting = world.backend.start({ argv: ["program"], processId: "p", cwd: "/" });
    const { params } = await world.server.next("process/start");
    await world.reconnect();
    await world.server.welcome();
    await world.server.refuse("process/read", -32600, "unknown process id p");
    const again = await world.server.answer("process/start", { processId: "p", sandboxType: "none" });
    expect(again.params).toEqual(params);
    expect((await starting).info.state).toBe("running");
  });

  it("considers a process started if the server knows it, once it runs, and reads its events", async () => {
    const starting = world.backend.start({ argv: ["program"], processId: "p", cwd: "/" });
    await world.server.next("process/start");
    await world.reconnect();
    await world.server.welcome();
    await world.server.refuse("process/read", -32600, "process id p is starting");
    await world.server.taken();
    world.clock.advance(50);
    const probe = await world.server.answer("process/read", readAnswer(2, [[1, "a"]]));
    expect(probe.params).toMatchObject({ afterSeq: 0, maxBytes: 0 });
    await world.server.answer("process/read", readAnswer(2, [[1, "a"]]));
    await world.server.taken();
    // The server may not push its events, since it was started on another connection: poll until the first one is pushed.
    world.clock.advance(250);
    await world.server.answer("process/read", readAnswer(3, [[2, "b"]]));
    world.server.exited(3);
    await world.server.taken();
    world.clock.advance(6_000);
    world.server.closed(4);
    const told = ["a", "b"].map((text, index) => output(index + 1, "stdout", text));
    expect(await transcript(await starting)).toEqual([...told, exited(3), closed(4, { stdout: 2 })]);
    expect(world.server.methods.filter((method) => method === "process/read")).toHaveLength(4);
    expect(world.server.methods).not.toContain("process/start");
  });

  it("frees the id of a start that is stuck since its connection was lost, and repeats it", async () => {
    const starting = world.backend.start({ argv: ["program"], processId: "p", cwd: "/" });
    await world.server.next("process/start");
    await world.reconnect();
    await world.server.welcome();
    for (let question = 0; question < 20; question += 1) {
      await world.server.refuse("process/read", -32600, "process id p is starting");
      await world.server.taken();
      world.clock.advance(50);
    }
    await world.server.answer("process/terminate", { running: true });
    await world.server.refuse("process/read", -32600, "unknown process id p");
    await world.server.answer("process/start", { processId: "p", sandboxType: "none" });
    expect((await starting).info.state).toBe("running");
  });

  it("drops a connection on which a command waits behind a blocked write", async () => {
    const process = await world.start({ pipeStdin: true });
    const writing = process.write("more than fits");
    await world.server.next("process/write");
    const ending = process.terminate();
    await world.server.next("process/terminate");
    world.clock.advance(1_000);
    await world.recovering();
    await world.comeBack();
    await world.server.welcome();
    await world.server.answer("process/read", NOTHING_NEW);
    await world.server.answer("process/terminate", { running: true });
    expect(await ending).toEqual({ running: true });
    expect(world.server.methods).toEqual(["process/read", "process/terminate", "process/write"]);
    await world.server.refuse("process/write", -32603, "failed to write to process stdin");
    expect(await writing).toBe("stdinClosed");
  });
});

describe("a client that connects for the first time", () => {
  it("fails if there is no server, or the server refuses it", async () => {
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    expect(await refusal(connectCodex("ws://127.0.0.1:1"))).toEqual(lost);
    expect(await refusal(connectCodex("http://127.0.0.1"))).toEqual({ code: "INVALID_PARAMS", data: { field: "url" } });
  });

  it("reports that the server requires another token", async () => {
    const seen: unknown[] = [];
    const server = createServer().listen(0, "127.0.0.1");
    server.on("upgrade", ({ headers }, socket) => {
      seen.push(headers.authorization);
      socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    });
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await refusal(connectCodex(url, { token: "wrong" }))).toEqual({ code: "UNAUTHORIZED", data: {} });
    expect(seen).toEqual(["Bearer wrong"]);
    server.close();
  });

  it("requests the server's directory if the handshake does not have it", async () => {
    const world = await CodexClientWorld.open({}, async (connection) => {
      await connection.answer("initialize", { sessionId: "the session" });
      await connection.answer("environment/info", { shell: {}, cwd: "file:///told" });
    });
    const starting = world.backend.start({ argv: ["x"], processId: "p" });
    const { params } = await world.server.answer("process/start", { processId: "p" });
    expect(params?.cwd).toBe("file:///told");
    expect((await starting).info.cwd).toBe("/told");
    await world.close();
  });
});
