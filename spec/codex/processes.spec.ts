// Processes of the Codex protocol: order, independence of calls, and what only this server promises.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { CodexHost } from "../support/codex-host.ts";
import { type CodexPeer, startParams } from "../support/codex-peer.ts";
import { isAlive, openDescriptors } from "../support/system-facts.ts";
import { allGone } from "../support/trees.ts";

let host: CodexHost;
let peer: CodexPeer;
beforeAll(async () => {
  host = await CodexHost.open();
  peer = await host.connect();
});
afterAll(() => host.close());

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("calls on one connection", () => {
  it("see the process whose start was requested just before them", async () => {
    const start = peer.ask("process/start", startParams("order", "cat", { pipeStdin: true }));
    const writes = ["a", "b", "c"].map((text, index) =>
      peer.ask("process/write", { processId: "order", chunk: base64(text), writeId: String(index) }),
    );
    const read = peer.ask("process/read", { processId: "order", waitMs: 20_000 });
    for (const write of writes) expect((await peer.reply(write)).result).toEqual({ status: "accepted" });
    expect((await peer.reply(start)).result).toEqual({ processId: "order", sandboxType: "none" });
    await peer.reply(read);
    await peer.until(() => peer.textOf("order").length === 3 || undefined);
    expect(peer.textOf("order")).toBe("abc");
    const terminate = await peer.call("process/terminate", { processId: "order" });
    expect(terminate.result).toEqual({ running: true });
    expect((await peer.closed("order")).params.seq).toBe(peer.pushesOf("order").length);
  });

  it("do not wait for a long poll, nor for a stdin that is not read", async () => {
    await peer.start("stuck", "sleep 1000", { pipeStdin: true });
    const poll = peer.ask("process/read", { processId: "stuck", waitMs: 1_000_000 });
    const chunk = Buffer.alloc(1024 * 1024).toString("base64");
    const writes = [1, 2, 3].map((id) => peer.ask("process/write", { processId: "stuck", chunk, writeId: String(id) }));
    expect((await peer.call("environment/status")).result).toEqual({ status: "ready" });
    await peer.call("process/terminate", { processId: "stuck" });
    await peer.closed("stuck");
    const last = await peer.reply(writes[2] as number);
    expect(last.result).toEqual({ status: "stdinClosed" });
    await peer.reply(poll);
  });

  it("do not deadlock when 300 processes end while 300 requests are pipelined", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `many-${index}`);
    for (const id of ids) peer.ask("process/start", startParams(id, "read line", { pipeStdin: true }));
    const writes = ids.map((processId) => peer.ask("process/write", { processId, chunk: "Cg==", writeId: "1" }));
    for (const write of writes) expect((await peer.reply(write)).result).toEqual({ status: "accepted" });
    for (const id of ids) await peer.closed(id);
    expect((await peer.call("environment/status")).result).toEqual({ status: "ready" });
  });
});

describe("a start whose description would be too long", () => {
  it("is refused before it runs, because of its id or directory", async () => {
    const before = await host.supervisor.list();
    const id = "i".repeat(8_193);
    const refusedId = await peer.call("process/start", startParams(id, "sleep 60"));
    expect(refusedId.error).toMatchObject({ code: -32602, message: expect.stringContaining("8193 characters") });
    const cwd = `file:///${"d/".repeat(2_048)}`;
    const refusedCwd = await peer.call("process/start", startParams("long-cwd", "sleep 60", { cwd }));
    expect(refusedCwd.error).toMatchObject({
      code: -32603,
      message: "File name too long (os error 36)",
      data: { kind: "spawnFailed" },
    });
    expect((await host.supervisor.list()).length).toBe(before.length);
  });

  it("runs if only its script is long, and lists show the beginning of the script", async () => {
    await peer.start("long-script", `: ${"x".repeat(100_000)}; echo done`);
    await peer.closed("long-script");
    expect(peer.textOf("long-script")).toBe("done\n");
    const info = (await host.supervisor.list()).find(({ labels }) => labels.codex === "long-script");
    expect(info?.argvOmitted?.bytes).toBeGreaterThan(97_000);
  });
});

describe("events of processes", () => {
  it("never come before the reply that announces their process, and come in the order of their seqs", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `short-${index}`);
    const asked = new Map(ids.map((id) => [id, peer.ask("process/start", startParams(id, "echo out; echo err >&2"))]));
    for (const id of ids) await peer.closed(id);
    for (const [id, request] of asked) {
      const replyAt = peer.received.findIndex((message) => "id" in message && message.id === request);
      const firstAt = peer.received.indexOf(peer.pushesOf(id)[0] as never);
      expect(replyAt).toBeLessThan(firstAt);
      const seqs = peer.pushesOf(id).map(({ params }) => params.seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    }
  });

  it("leave no seq out: a resize by another client is an empty output, in notifications and reads", async () => {
    await peer.start("sized", "read line; stty size", { tty: true });
    const [info] = (await host.supervisor.list()).filter(({ labels }) => labels.codex === "sized");
    const process = await host.supervisor.attach(info?.processId as string);
    await process.resize({ rows: 30, cols: 100 });
    await peer.call("process/write", { processId: "sized", chunk: base64("\n"), writeId: "1" });
    await peer.closed("sized");
    expect(peer.textOf("sized")).toContain("30 100");
    const [first] = peer.pushesOf("sized");
    expect(first).toMatchObject({ method: "process/output", params: { seq: 1, stream: "pty", chunk: "" } });
    expect((await peer.read("sized", 0)).chunks[0]).toEqual({ seq: 1, stream: "pty", chunk: "" });
  });
});

describe("process/terminate", () => {
  it("reaches a descendant that left the group", async () => {
    await peer.start("tree", "setsid sh -c 'echo $$; sleep 1000' & read line", { pipeStdin: true });
    const pid = await peer.until(() => Number(/^(\d+)\n/.exec(peer.textOf("tree"))?.[1]) || undefined);
    expect((await peer.call("process/terminate", { processId: "tree" })).result).toEqual({ running: true });
    await peer.closed("tree");
    await allGone(pid);
  });

  it("spares the processes that an exited command left behind, which end with the server", async () => {
    const other = await CodexHost.open();
    const client = await other.connect();
    await client.start("leader", "sleep 1000 & echo $!");
    const left = await client.until(() => Number(/^(\d+)\n/.exec(client.textOf("leader"))?.[1]) || undefined);
    await client.until(() => client.pushesOf("leader").find(({ method }) => method === "process/exited"));
    expect((await client.call("process/terminate", { processId: "leader" })).result).toEqual({ running: false });
    expect(isAlive(left)).toBe(true);
    await other.close();
    await allGone(left);
  });

  it("closes the stdin, so that writes are refused", async () => {
    await peer.start("gone", "sleep 1000", { pipeStdin: true });
    const terminate = peer.ask("process/terminate", { processId: "gone" });
    const write = peer.ask("process/write", { processId: "gone", chunk: base64("x"), writeId: "1" });
    expect((await peer.reply(terminate)).result).toEqual({ running: true });
    expect((await peer.reply(write)).result).toEqual({ status: "stdinClosed" });
    await peer.closed("gone");
  });

  it("is reported as 128 plus the signal, on a terminal too", async () => {
    await peer.start("signal", "sleep 1000", { tty: true });
    await peer.call("process/terminate", { processId: "signal" });
    await peer.closed("signal");
    expect(peer.pushesOf("signal").at(-2)?.params.exitCode).toBe(137);
  });
});

describe("a slow connection", () => {
  it("is shared fairly: processes that print without end leave room for the others", async () => {
    const small = await CodexHost.open({ limits: { outboxBytes: 64 * 1024 } });
    const client = await small.connect();
    const floods = ["a", "b", "c", "d"];
    for (const id of floods) await client.start(id, "yes");
    await client.start("short", "sleep 0.2; echo done; exit 3");
    await client.closed("short");
    for (const id of floods) await client.until(() => client.pushesOf(id)[2]);
    await small.close();
  });
});

describe("ids of processes", () => {
  it("belong to their session, may be empty or long, and are free again when a start fails", async () => {
    const other = await host.connect();
    for (const id of ["", "x".repeat(5000), "same"]) {
      for (const one of [peer, other]) {
        expect((await one.start(id, "exit 3")).result).toEqual({ processId: id, sandboxType: "none" });
        await one.closed(id);
      }
    }
    expect((await peer.start("same", "true")).error).toMatchObject({
      code: -32600,
      message: "process same already exists",
    });
    const missing = await peer.start("failed", "", { argv: ["/no/such/program"] });
    expect(missing.error).toMatchObject({ code: -32603, data: { kind: "spawnNotFound" } });
    expect(missing.error?.message).toContain("/no/such/program");
    expect((await peer.start("failed", "true")).result).toBeDefined();
    await other.cut();
  });

  it("cost no descriptor once their process is closed", async () => {
    await peer.start("before", "true");
    await peer.closed("before");
    const before = openDescriptors();
    for (let index = 0; index < 100; index += 1) {
      await peer.start(`descriptor-${index}`, "echo x");
      await peer.closed(`descriptor-${index}`);
    }
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
    expect((await peer.read("descriptor-0", 0)).chunks).toHaveLength(1);
  });
});

describe("an invalid message", () => {
  it("is answered with id -1, or not at all, and does not close the connection", async () => {
    for (const text of [
      "garbage",
      "[]",
      "",
      "1",
      '{"id":null,"method":"x"}',
      '{"id":1,"method":"a","method":"b"}',
      "{}{}",
    ]) {
      const before = peer.received.length;
      peer.send(text);
      const answer = await peer.until(() => peer.received[before]);
      expect([text, answer]).toMatchObject([text, { id: -1, error: { code: -32600 } }]);
    }
    for (const ignored of [{ method: "no/such", params: {} }, { method: "process/start" }, { id: 9, result: 1 }]) {
      peer.send(ignored);
    }
    expect((await peer.call("no/such")).error?.code).toBe(-32601);
    expect((await peer.start("nul\0", "true")).result).toBeDefined();
    await peer.closed("nul\0");
    // An id is returned as it was sent, even if it is no JavaScript number.
    const raw = new Promise<string>((resolve) => peer.socket.once("message", (data) => resolve(String(data))));
    peer.send('{"id":9223372036854775807,"method":"environment/status"}');
    expect(await raw).toBe('{"id":9223372036854775807,"result":{"status":"ready"}}');
  });
});
