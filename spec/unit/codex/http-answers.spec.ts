// Complete responses: status, headers and body as received, encoded bodies, redirects.
import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, jest } from "@jest/globals";
import { type Answer, answerTo, FakeConnection, HttpServers, textOf, valuesOf } from "../../support/http-peers.ts";
import { nextTurn } from "../../support/next-turn.ts";

const servers = HttpServers.use();
let connection: FakeConnection;

beforeEach(() => {
  connection = new FakeConnection();
});

const names = ({ headers }: Answer) => headers.map(({ name }) => name);
const echoed = async (path: string, more: object = {}) =>
  textOf(await connection.call(servers.get(path, more))).split("\n");

describe("an HTTP response", () => {
  it("has its headers in order, repeated ones separately, with names in lower case", async () => {
    const answer = await answerTo(
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Wed, 01 Jan 2030 00:00:00 GMT\r\nX-Up: A\r\nset-cookie: b=2\r\n" +
        "x-up:  B  b \r\nContent-Length: 2\r\n\r\nhi",
    );
    expect(answer).toEqual({
      status: 200,
      headers: [
        { name: "set-cookie", value: "a=1; Expires=Wed, 01 Jan 2030 00:00:00 GMT" },
        { name: "x-up", value: "A" },
        { name: "set-cookie", value: "b=2" },
        { name: "x-up", value: "B  b" },
        { name: "content-length", value: "2" },
      ],
      bodyBase64: "aGk=",
    });
  });

  it("decodes headers that are not ASCII as UTF-8, or else as Latin-1", async () => {
    const answer = (await answerTo(
      Buffer.from("HTTP/1.1 200 OK\r\nx-utf: \xc3\xa9\r\nx-bin: a\xe9\xff\r\ncontent-length: 0\r\n\r\n", "latin1"),
    )) as Answer;
    expect(valuesOf(answer, "x-utf")).toEqual(["é"]);
    expect(valuesOf(answer, "x-bin")).toEqual(["aéÿ"]);
  });

  it.each([
    ["HTTP/1.1 204 No Content\r\nx-a: b\r\n\r\n", 204, ""],
    ["HTTP/1.1 304 Not Modified\r\nx-a: b\r\n\r\n", 304, ""],
    ["HTTP/1.1 404 Nope\r\ncontent-length: 2\r\n\r\nno", 404, "no"],
    ["HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n", 500, ""],
    ["HTTP/1.1 999 Odd\r\ncontent-length: 1\r\n\r\nx", 999, "x"],
    ["HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end"],
    ["HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nz", 200, "z"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-t: 1\r\n\r\n", 200, "abcde"],
    ["HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nno longer HTTP", 101, ""],
    [`HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}\r\ncontent-length: 1\r\n\r\nx`, 200, "x"],
  ])("%# has its status and body unchanged", async (said, status, body) => {
    const answer = (await answerTo(said)) as Answer;
    expect(answer.status).toBe(status);
    expect(textOf(answer)).toBe(body);
  });

  it("to HEAD has headers but no body", async () => {
    const said = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n";
    const answer = (await answerTo(said, { method: "HEAD" })) as Answer;
    expect(answer).toEqual({ status: 200, headers: [{ name: "content-length", value: "10" }], bodyBase64: "" });
  });

  it.each([0, 1, 2, 3, 4, 5, 65_535, 65_536, 200_000])("with %i bytes in odd pieces is complete", async (size) => {
    const body = Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
    servers.handlers.set("/pieces", async (_, response) => {
      for (let at = 0, step = 1; at < size; at += step, step = Math.min(step * 3, 50_000)) {
        response.write(body.subarray(at, at + step));
        if (at < 200) await nextTurn();
      }
      response.end();
    });
    const answer = await connection.call(servers.get("/pieces"));
    expect(answer.bodyBase64).toBe(body.toString("base64"));
  });
});

describe("a body in one piece", () => {
  it("may be as long as the limit, and not longer", async () => {
    connection = new FakeConnection(100_000);
    const limit = "-32600 http/request response body is too large: limit is 100000 bytes, use streamResponse";
    const size = (bytes: number) => (_: IncomingMessage, response: ServerResponse) =>
      void response.end(Buffer.alloc(bytes));
    servers.handlers.set("/fits", size(100_000));
    servers.handlers.set("/large", size(100_001));
    servers.handlers.set("/bomb", (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(10_000_000)));
    });
    servers.handlers.set("/endless", (_, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(50_000)), 1);
      response.on("close", () => clearInterval(timer));
    });
    expect(textOf(await connection.call(servers.get("/fits")))).toHaveLength(100_000);
    for (const path of ["/large", "/bomb", "/endless"]) expect(await connection.refusal(servers.get(path))).toBe(limit);
    await connection.call(servers.get("/large", { streamResponse: true }));
    expect((await connection.body("r")).at(-1)).toMatchObject({ error: null });
  });
});

describe("an encoded body", () => {
  const packed = gzipSync("hello gzip");

  const coded = (encoding: string, body: Buffer) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { "content-encoding": encoding, "content-length": body.length, "x-a": "b" }).end(body);

  it.each([undefined, "gzip", "identity", "br"])("in gzip is decoded if %s was requested", async (wanted) => {
    servers.handlers.set("/gzip", coded("gzip", packed));
    const headers = wanted ? [{ name: "Accept-Encoding", value: wanted }] : [];
    const answer = await connection.call(servers.get("/gzip", { headers }));
    expect(textOf(answer)).toBe("hello gzip");
    expect(names(answer)).toContain("x-a");
    expect(names(answer)).not.toContain("content-encoding");
    expect(names(answer)).not.toContain("content-length");
  });

  it("in another encoding is left unchanged, with its header", async () => {
    const body = brotliCompressSync("hello br");
    servers.handlers.set("/br", coded("br", body));
    const answer = await connection.call(servers.get("/br"));
    expect(answer.bodyBase64).toBe(body.toString("base64"));
    expect(valuesOf(answer, "content-encoding")).toEqual(["br"]);
    expect(valuesOf(answer, "content-length")).toEqual([String(body.length)]);
    const twice = gzipSync(packed);
    servers.handlers.set("/twice", coded("gzip, gzip", twice));
    expect((await connection.call(servers.get("/twice"))).bodyBase64).toBe(twice.toString("base64"));
  });

  it("that is empty is no failure", async () => {
    for (const said of [
      "HTTP/1.1 304 Not\r\ncontent-encoding: gzip\r\ncontent-length: 30\r\n\r\n",
      "HTTP/1.1 204 No\r\ncontent-encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n",
    ]) {
      expect(await answerTo(said)).toMatchObject({ bodyBase64: "" });
    }
    servers.handlers.set("/gzip", coded("gzip", packed));
    expect(await connection.call(servers.get("/gzip", { method: "HEAD" }))).toMatchObject({ bodyBase64: "" });
  });

  it.each([
    ["not gzip at all", Buffer.from("not gzip"), "incorrect header check"],
    ["cut off", packed.subarray(0, 20), "unexpected end of file"],
  ])("that is %s is a failure", async (_, body, reason) => {
    servers.handlers.set("/bad", coded("gzip", body));
    expect(await connection.refusal(servers.get("/bad"))).toBe(
      `-32603 failed to read http/request response body: error decoding response body: ${reason}`,
    );
  });

  it("is streamed while it is decoded", async () => {
    servers.handlers.set("/gzip", coded("gzip", packed));
    await connection.call(servers.get("/gzip", { streamResponse: true }));
    const deltas = await connection.body("r");
    expect(textOf({ bodyBase64: deltas[0]!.deltaBase64 })).toBe("hello gzip");
    expect(deltas.at(-1)).toEqual({ requestId: "r", seq: 2, deltaBase64: "", done: true, error: null });
  });
});

describe("an HTTP redirect", () => {
  const redirect = (status: number, location: string) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { location }).end("moved");

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "POST", "GET", ""],
    [307, "POST", "POST", "hi"],
    [308, "POST", "POST", "hi"],
    [302, "PUT", "PUT", "hi"],
    [303, "PUT", "GET", ""],
    [302, "DELETE", "DELETE", "hi"],
  ])("with %i turns %s into %s", async (status, method, becomes, body) => {
    servers.handlers.set("/from", redirect(status, "/to?x=1#y"));
    const headers = [
      { name: "content-type", value: "text/x" },
      { name: "authorization", value: "Basic zz" },
    ];
    const lines = await echoed("/from", { method, bodyBase64: "aGk=", headers });
    expect(lines[0]).toBe(`${becomes} /to?x=1`);
    expect(lines.at(-1)).toBe(body);
    expect(lines.includes("content-type: text/x")).toBe(body !== "");
    expect(lines).toContain("authorization: Basic zz");
    expect(lines).toContain(`referer: ${servers.base}/from`);
  });

  it("of a HEAD request stays HEAD", async () => {
    const methods: (string | undefined)[] = [];
    servers.handlers.set("/from", redirect(303, "/to"));
    servers.handlers.set("/to", (request, response) => {
      methods.push(request.method);
      response.end();
    });
    expect(await connection.call(servers.get("/from", { method: "HEAD" }))).toMatchObject({ status: 200 });
    expect(methods).toEqual(["HEAD"]);
  });

  it("to another origin sends no credentials", async () => {
    servers.handlers.set("/from", redirect(307, `${servers.other.replace("//", "//a:b@")}/to`));
    const headers = ["authorization", "cookie", "proxy-authorization", "host", "x-other"].map((name) => ({
      name,
      value: "example.test",
    }));
    expect((await echoed("/from?secret=1", { headers })).slice(0, -2)).toEqual([
      "GET /to",
      "x-other: example.test",
      `referer: ${servers.base}/`,
      "accept: */*",
      "accept-encoding: gzip",
      `host: ${servers.other.slice(7)}`,
      "connection: close",
    ]);
  });

  it("is followed at most ten times", async () => {
    for (let at = 0; at < 11; at += 1) servers.handlers.set(`/${at + 1}`, redirect(302, at === 0 ? "/end" : `/${at}`));
    const warn = jest.spyOn(process, "emitWarning");
    expect((await echoed("/10"))[0]).toBe("GET /end");
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    expect(await connection.refusal(servers.get("/11"))).toBe("-32603 http/request failed: too many redirects");
  });

  it("to another scheme is a failure", async () => {
    servers.handlers.set("/from", redirect(302, "file:///etc/passwd"));
    expect(await connection.refusal(servers.get("/from"))).toBe(
      "-32603 http/request failed: redirect target uses unsupported URL scheme: file",
    );
  });

  it.each([
    ["to no URL", 302, "http://[bad"],
    ["with a choice", 300, "/to"],
    ["to a proxy", 305, "/to"],
  ])("%s is an ordinary response", async (_, status, location) => {
    servers.handlers.set("/from", redirect(status, location));
    const answer = await connection.call(servers.get("/from"));
    expect(answer.status).toBe(status);
    expect(valuesOf(answer, "location")).toEqual([location]);
    expect(textOf(answer)).toBe("moved");
  });

  it("without a location is an ordinary response", async () => {
    servers.handlers.set("/from", (_, response) => response.writeHead(302).end("moved"));
    expect(await connection.call(servers.get("/from"))).toMatchObject({ status: 302 });
  });

  it("is not followed if the request forbids it", async () => {
    servers.handlers.set("/from", redirect(302, "/to"));
    const answer = await connection.call(servers.get("/from", { redirectPolicy: "stop" }));
    expect(answer.status).toBe(302);
    expect(valuesOf(answer, "location")).toEqual(["/to"]);
    expect(textOf(answer)).toBe("moved");
  });
});
