// Which clients a server accepts: tokens, web pages, scanners, unix sockets. A refused client occupies and learns nothing.
import { once } from "node:events";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { WebSocket } from "ws";
import { connect } from "../../lib/connect.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import { type ServeOptions, serve } from "../../lib/server/server.ts";
import { type Limits, SUBPROTOCOL } from "../../protocol/index.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { runProgram } from "../support/system-run.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";

/** The HTTP status of the reply to a WebSocket upgrade; 101 when it is accepted. */
async function statusOf(url: string, headers: Record<string, string>, subprotocol = SUBPROTOCOL): Promise<number> {
  const socket = new WebSocket(url, subprotocol, { headers });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("unexpected-response", (_request, response) => {
      socket.on("error", () => undefined);
      socket.terminate();
      resolve(response.statusCode ?? 0);
    });
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
  });
}

describe("a server on TCP", () => {
  let host: WireHost;
  let url: string;
  beforeAll(async () => {
    host = await WireHost.open({ allowedOrigins: ["https://allowed.example"] });
    url = host.server.url as string;
  });
  afterAll(() => host.close());

  /** Another server of the same processes. */
  const serveToo = (limits: Partial<Limits> = {}) =>
    serve(host.supervisor, { auth: { kind: "token", token: TOKEN }, listen: { host: "127.0.0.1", port: 0 }, limits });

  it("refuses clients without the right token", async () => {
    const unauthorized = { code: "UNAUTHORIZED", data: {} };
    expect(await refusal(connect(url))).toEqual(unauthorized);
    for (const token of ["", "wrong", `${TOKEN} `, TOKEN.slice(1)]) {
      expect([token, await refusal(connect(url, { token }))]).toEqual([token, unauthorized]);
    }
  });

  it("reads the token from an Authorization header", async () => {
    const socket = new WebSocket(url, SUBPROTOCOL, {
      headers: { Authorization: `Bearer ${TOKEN.replaceAll(" ", "_")}` },
    });
    await once(socket, "open");
    socket.send(
      new Uint8Array([
        0x82,
        0xa4,
        ...Buffer.from("type"),
        0xa5,
        ...Buffer.from("hello"),
        0xa7,
        ...Buffer.from("version"),
        1,
      ]),
    );
    // The header cannot carry the spaces of this host's token. The refusal shows that it was read and compared.
    const [code] = await once(socket, "close");
    expect(code).toBe(4401);
  });

  it("refuses web pages, except those of allowed origins", async () => {
    for (const Origin of ["https://evil.example", "null", "https://allowed.example.evil.example"]) {
      // A page sees the code of a close, but no status.
      const page = new WebSocket(url, SUBPROTOCOL, { headers: { Origin } });
      const [code, reason] = await once(page, "close");
      expect([code, String(reason)]).toEqual([4403, `pages of the origin ${Origin} may not connect`]);
      expect(await statusOf(url, { Origin }, "chat")).toBe(403);
    }
    expect(await statusOf(url, { Origin: "https://allowed.example" })).toBe(101);
    expect(await statusOf(url, {})).toBe(101);
  });

  it("refuses a WebSocket that offers another subprotocol", async () => {
    expect(await statusOf(url, {}, "chat")).toBe(400);
  });

  it("answers plain HTTP with what to connect with", async () => {
    for (const path of ["/", "/readyz"]) {
      const response = await fetch(`http${url.slice(2)}${path}`);
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(SUBPROTOCOL)]);
    }
  });

  it("closes a plain HTTP connection after its first reply", async () => {
    const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
    socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 400 .*\r\nconnection: close\r\n/is);
  });

  it.each([
    ["sends nothing at all", ""],
    ["sends half of a request", "GET / HTTP/1.1\r\nHost: x\r\n"],
    ["upgrades and sends no hello", upgrade()],
  ])(
    "closes a connection after handshakeMs when it %s",
    async (_name, bytes) => {
      const hasty = await serveToo({ handshakeMs: 150 });
      const { port } = new URL(hasty.url as string);
      const socket: Socket = connectTcp(Number(port), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.write(bytes);
      await once(socket, "close");
      expect(socket.destroyed).toBe(true);
      await hasty.close();
    },
    4_000,
  );

  it("closes at once although silent clients are connected", async () => {
    const other = await serveToo();
    const { port } = new URL(other.url as string);
    const silent = connectTcp(Number(port), "127.0.0.1");
    silent.on("error", () => undefined);
    const half = connectTcp(Number(port), "127.0.0.1");
    half.on("error", () => undefined).pause();
    half.write(upgrade());
    await Promise.all([once(silent, "connect"), once(half, "readable")]);
    await other.close();
    silent.destroy();
    half.destroy();
  }, 4_000);

  it("does not listen without a token on an address that other machines can reach", async () => {
    const open = { auth: { kind: "none" }, listen: { host: "0.0.0.0", port: 0 } } as const;
    expect(await refusal(serve(host.supervisor, open))).toEqual({ code: "INVALID_PARAMS", data: { field: "auth" } });
  });
});

describe("a server on a unix socket", () => {
  const scratch = makeScratch();
  const supervisor = createSupervisor();
  afterAll(() => supervisor.close());
  const at = (path: string): ServeOptions => ({ auth: { kind: "none" }, listen: { path } });

  it("can be reached by its own user only, and removes its socket file when it closes", async () => {
    const path = scratch("own.sock");
    const server = await serve(supervisor, at(path));
    expect(server.url).toBe(`unix:${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const client = await connect(`unix:${path}`);
    expect(await client.list()).toEqual([]);
    await client.close();
    await server.close();
    expect(existsSync(path)).toBe(false);
  });

  it("refuses a path of more than 107 bytes, which the system would truncate", async () => {
    const [fits, tooLong] = [107, 108].map((bytes) => scratch("").padEnd(bytes, "x"));
    const server = await serve(supervisor, at(fits as string));
    await server.close();
    expect(await refusal(serve(supervisor, at(tooLong as string)))).toEqual({
      code: "INVALID_PARAMS",
      data: { field: "path" },
    });
  });

  it("replaces the stale socket file of a killed server", async () => {
    const path = scratch("stale.sock");
    const listen = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
    await runProgram([process.execPath, "-e", listen]);
    expect(statSync(path).isSocket()).toBe(true);
    const server = await serve(supervisor, at(path));
    const client = await connect(`unix:${path}`);
    await client.close();
    await server.close();
  });

  it("does not replace the socket file of a running server", async () => {
    const path = scratch("live.sock");
    const living = createServer().listen(path);
    await once(living, "listening");
    expect(await refusal(serve(supervisor, at(path)))).toEqual({ code: "INVALID_PARAMS", data: { field: "path" } });
    expect(existsSync(path)).toBe(true);
    living.close();
  });

  it("does not remove a file that is not a socket", async () => {
    const path = scratch("precious");
    writeFileSync(path, "data");
    await expect(serve(supervisor, at(path))).rejects.toMatchObject({
      code: expect.stringMatching(/EADDRINUSE|INVALID_PARAMS/),
    });
    expect(statSync(path).size).toBe(4);
  });
});

/** An upgrade request to a WebSocket, as text. */
function upgrade(): string {
  return [
    "GET / HTTP/1.1",
    "Host: x",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
    "\r\n",
  ].join("\r\n");
}
