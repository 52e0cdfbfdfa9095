// Bodies in deltas, slow clients, and connections that end during a stream.
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { ReplyThen } from "../../../lib/codex/server/method.ts";
import { FakeConnection, HttpServers, rawServer, textOf } from "../../support/http-peers.ts";

const servers = HttpServers.use();
let connection: FakeConnection;

beforeEach(() => {
  connection = new FakeConnection();
});

describe("a streamed body", () => {
  it("comes in deltas after the response, of which the last is empty", async () => {
    const announced = (await connection.callOnly(servers.get("/x", { streamResponse: true }))) as ReplyThen;
    expect(announced.result).toMatchObject({ status: 200, bodyBase64: "" });
    await servers.settle();
    expect(connection.deltas).toEqual([]);
    announced.begin();
    const [first, ...rest] = await connection.body("r");
    expect(first).toMatchObject({ requestId: "r", seq: 1, done: false, error: null });
    expect(textOf({ bodyBase64: first!.deltaBase64 })).toContain("GET /x");
    expect(rest).toEqual([{ requestId: "r", seq: 2, deltaBase64: "", done: true, error: null }]);
  });

  it("passes on what has arrived while more is to come", async () => {
    let finish = (): unknown => undefined;
    servers.handlers.set("/events", (_, response) => {
      response.write("one");
      finish = () => response.end("two");
    });
    await connection.call(servers.get("/events", { streamResponse: true }));
    await connection.until(({ length }) => length > 0);
    expect(connection.deltas).toEqual([{ requestId: "r", seq: 1, deltaBase64: "b25l", done: false, error: null }]);
    finish();
    expect((await connection.body("r")).slice(1)).toEqual([
      { requestId: "r", seq: 2, deltaBase64: "dHdv", done: false, error: null },
      { requestId: "r", seq: 3, deltaBase64: "", done: true, error: null },
    ]);
  });

  it("consists of its end if there is no body", async () => {
    servers.handlers.set("/empty", (_, response) => response.writeHead(204).end());
    await connection.call(servers.get("/empty", { streamResponse: true }));
    expect(await connection.body("r")).toEqual([{ requestId: "r", seq: 1, deltaBase64: "", done: true, error: null }]);
  });

  it("reports at its end if it broke off", async () => {
    const raw = await rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc"));
    await connection.call({ ...servers.get("/"), url: raw.url, streamResponse: true });
    expect((await connection.body("r")).at(-1)).toMatchObject({
      seq: 2,
      done: true,
      error: "error decoding response body: aborted",
    });
    raw.close();
  });

  it("has an id that no other open stream has", async () => {
    const held: ServerResponse[] = [];
    servers.handlers.set("/hold", (_, response) => {
      held.push(response);
      response.write("a");
    });
    await connection.call(servers.get("/hold", { streamResponse: true }));
    expect(await connection.refusal(servers.get("/", { streamResponse: true }))).toBe(
      "-32602 http/request streamResponse requestId `r` is already active",
    );
    // Complete responses need no id of their own.
    expect(await connection.call(servers.get("/"))).toMatchObject({ status: 200 });
    held[0]!.end();
    await connection.body("r");
    connection.deltas.length = 0;
    expect(await connection.call(servers.get("/", { streamResponse: true }))).toMatchObject({ status: 200 });
    expect((await connection.body("r"))[0]).toMatchObject({ seq: 1 });
  });

  it("frees its id if it cannot begin", async () => {
    const nowhere = servers.get("/", { url: "http://127.0.0.1:1/", streamResponse: true });
    expect(await connection.refusal(nowhere)).toContain("error sending request");
    expect(await connection.call(servers.get("/", { streamResponse: true }))).toMatchObject({ status: 200 });
    expect((await connection.body("r")).at(-1)).toMatchObject({ done: true, error: null });
  });

  it("waits for a slow client instead of filling the memory", async () => {
    const total = 64 * 2 ** 20;
    let sent = 0;
    servers.handlers.set("/flood", (_, response) => {
      const chunk = Buffer.alloc(2 ** 16, 97);
      const go = (): void => {
        while (sent < total) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", go);
        }
        response.end();
      };
      go();
    });
    let hasRoom = (): void => undefined;
    connection.drained = () => new Promise((resolve) => (hasRoom = resolve));
    await connection.call(servers.get("/flood", { streamResponse: true }));
    // Until the kernel's buffers are full too.
    for (let before = -1; sent !== before; ) {
      before = sent;
      for (let round = 0; round < 20; round += 1) await servers.settle();
    }
    expect(connection.deltas).toHaveLength(1);
    expect(sent).toBeLessThan(total / 2);
    connection.drained = () => Promise.resolve();
    hasRoom();
    const deltas = await connection.body("r");
    const size = deltas.reduce((sum, { deltaBase64 }) => sum + Buffer.byteLength(deltaBase64, "base64"), 0);
    expect(size).toBe(total);
    expect(deltas.map(({ seq }) => seq)).toEqual(deltas.map((_, at) => at + 1));
  });
});

describe("the end of the connection", () => {
  it("may happen before the first delta", async () => {
    const body = gzipSync(randomBytes(100_000));
    servers.handlers.set("/plain", (_, response) => void response.write(body));
    servers.handlers.set("/coded", (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).write(body);
    });
    for (const path of ["/plain", "/coded"]) {
      const closed = servers.seen("close", path);
      const each = new FakeConnection();
      const announced = (await each.callOnly(servers.get(path, { streamResponse: true }))) as ReplyThen;
      each.over.abort();
      await closed;
      announced.begin();
      await servers.settle();
      expect(each.deltas).toEqual([]);
    }
  });

  it("ends every request without a reply", async () => {
    const warn = jest.spyOn(process, "emitWarning");
    servers.handlers.set("/hold", (_, response) => void response.write("a"));
    servers.handlers.set("/never", () => undefined);
    const all = (event: "request" | "close") =>
      Promise.all([servers.seen(event, "/hold", 21), servers.seen(event, "/never")]);
    const arrived = all("request");
    const closed = all("close");
    const ids = Array.from({ length: 20 }, (_, at) => `s${at}`);
    await Promise.all(
      ids.map((requestId) => connection.call(servers.get("/hold", { requestId, streamResponse: true }))),
    );
    await connection.until(({ length }) => length === 20);
    const waiting = ["/never", "/hold"].map((path) => connection.refusal(servers.get(path)));
    await arrived;
    await servers.settle();
    connection.over.abort();
    expect(await Promise.all(waiting)).toEqual([
      `-32603 http/request failed: error sending request for url (${servers.base}/never): the connection is over`,
      "-32603 failed to read http/request response body: error decoding response body: the connection is over",
    ]);
    await closed;
    await servers.settle();
    expect(connection.deltas).toHaveLength(20);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    expect(await connection.refusal(servers.get("/"))).toContain("the connection is over");
  });
});
