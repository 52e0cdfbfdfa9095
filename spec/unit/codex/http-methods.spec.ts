// Requests that the host sends for a client: what is sent, what is refused, and how failures are reported.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { answerTo, FakeConnection, HttpServers, rawServer, textOf } from "../../support/http-peers.ts";

const servers = HttpServers.use();
let connection: FakeConnection;

beforeEach(() => {
  connection = new FakeConnection();
});

const echoed = async (path: string, more: object = {}) =>
  textOf(await connection.call(servers.get(path, more))).split("\n");

describe("an HTTP request", () => {
  it("sends the requested headers and few others", async () => {
    expect(await echoed("/a?b=c#d")).toEqual([
      "GET /a?b=c",
      "accept: */*",
      "accept-encoding: gzip",
      `host: ${servers.base.slice(7)}`,
      "connection: close",
      "",
      "",
    ]);
  });

  it("sends headers in order, and repeated ones separately", async () => {
    const headers = [
      { name: "X-Foo", value: "v" },
      { name: "Accept", value: "a/b" },
      { name: "x-foo", value: "w" },
      { name: "Host", value: "example.test" },
      { name: "User-Agent", value: "me" },
      { name: "X-Empty", value: "" },
    ];
    expect((await echoed("/", { headers })).slice(1, -2)).toEqual([
      "x-foo: v",
      "accept: a/b",
      "x-foo: w",
      "host: example.test",
      "user-agent: me",
      "x-empty: ",
      "accept-encoding: gzip",
      "connection: close",
    ]);
  });

  it("sends headers as UTF-8", async () => {
    const lines = await echoed("/", { headers: [{ name: "x", value: "é日" }] });
    // The echo decodes each byte of the header as a character.
    const written = Buffer.from(lines[1]!, "latin1").toString();
    expect(Buffer.from(written, "latin1").toString()).toBe("x: é日");
  });

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])(
    "with %s has a body if one is given",
    async (method) => {
      const seen = new Promise<string>((resolve) => {
        servers.handlers.set("/seen", async (request, response) => {
          let text = `${request.method} ${request.headers["content-length"]} `;
          for await (const chunk of request) text += chunk;
          response.end();
          resolve(text);
        });
      });
      expect(await connection.call(servers.get("/seen", { method, bodyBase64: "aGk=" }))).toMatchObject({
        status: 200,
      });
      expect(await seen).toBe(`${method} 2 hi`);
    },
  );

  it("announces an empty body for methods that usually have one", async () => {
    for (const method of ["POST", "PUT", "post", "PROPFIND"]) {
      const lines = await echoed("/", { method, bodyBase64: null });
      expect(lines).toContain("content-length: 0");
      expect(lines.join("\n")).not.toContain("transfer-encoding");
    }
  });

  it("frames its body itself, even if the caller sets the headers for that", async () => {
    const headers = [
      { name: "Content-Length", value: "500" },
      { name: "transfer-encoding", value: "chunked" },
    ];
    const lines = await echoed("/", { method: "POST", bodyBase64: "aGk=", headers });
    expect(lines.filter((line) => /^content-length|^transfer-encoding/.test(line))).toEqual(["content-length: 2"]);
    expect(lines.at(-1)).toBe("hi");
  });

  it("sends the user of a URL as an Authorization header", async () => {
    const url = `${servers.base.replace("//", "//us%40er:p%3Aw@")}/x`;
    const expected = `authorization: Basic ${Buffer.from("us@er:p:w").toString("base64")}`;
    expect(await echoed("", { url })).toContain(expected);
    const own = await echoed("", { url, headers: [{ name: "Authorization", value: "Bearer x" }] });
    expect(own.filter((line) => line.startsWith("authorization"))).toEqual(["authorization: Bearer x"]);
  });

  it("escapes characters in a URL that need it", async () => {
    expect((await echoed('/a b/日/%zz?q="<>'))[0]).toBe("GET /a%20b/%E6%97%A5/%zz?q=%22%3C%3E");
  });
});

describe("a header with a variable", () => {
  const variables = { EXECWIRE_SPEC_TOKEN: "secret", EXECWIRE_SPEC_EMPTY: "", EXECWIRE_SPEC_LINES: "a\nb" };
  beforeAll(() => void Object.assign(process.env, variables));
  afterAll(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });

  const withVariable = (valueEnvVar: unknown, value: unknown = "Bearer ") => ({
    headers: [{ name: "X-Auth", value, valueEnvVar }],
  });

  it("gets its value from the environment of the server, after the literal part", async () => {
    expect(await echoed("/", withVariable("EXECWIRE_SPEC_TOKEN"))).toContain("x-auth: Bearer secret");
    expect(await echoed("/", withVariable("EXECWIRE_SPEC_TOKEN", ""))).toContain("x-auth: secret");
    expect(await echoed("/", withVariable(null, "x"))).toContain("x-auth: x");
  });

  it.each([
    ["EXECWIRE_SPEC_NONE", "http/request header X-Auth requires executor environment variable EXECWIRE_SPEC_NONE"],
    ["", "http/request header X-Auth requires executor environment variable "],
    ["toString", "http/request header X-Auth requires executor environment variable toString"],
    ["A\0B", "http/request header X-Auth requires executor environment variable A\0B"],
    [
      "EXECWIRE_SPEC_EMPTY",
      "http/request header X-Auth requires a non-empty executor environment variable EXECWIRE_SPEC_EMPTY",
    ],
    ["EXECWIRE_SPEC_LINES", "http/request header value is invalid for X-Auth: failed to parse header value"],
    [5, "invalid type: number, expected a string"],
  ])("is refused with %j", async (variable, words) => {
    expect(await connection.refusal(servers.get("/", withVariable(variable)))).toBe(`-32602 ${words}`);
  });

  it("needs a literal part in addition", async () => {
    const headers = [{ name: "X-Auth", valueEnvVar: "EXECWIRE_SPEC_TOKEN" }];
    expect(await connection.refusal(servers.get("/", { headers }))).toBe("-32602 missing field `value`");
  });

  it("is not sent to another origin", async () => {
    servers.handlers.set("/away", (_, response) => response.writeHead(302, { location: `${servers.other}/` }).end());
    const lines = await echoed("/away", withVariable("EXECWIRE_SPEC_TOKEN"));
    expect(lines.join("\n")).not.toContain("secret");
  });
});

describe("the params of an HTTP request", () => {
  const asked = (more: object) => ({ method: "GET", url: "http://127.0.0.1:1/", requestId: "r", ...more });

  it.each([
    [null, "invalid type: null, expected struct HttpRequestParams"],
    [{}, "missing field `method`"],
    [{ method: "GET" }, "missing field `url`"],
    [{ method: "GET", url: "http://x/" }, "missing field `requestId`"],
    [asked({ requestId: 5 }), "invalid type: number, expected a string"],
    [asked({ headers: null }), "invalid type: null, expected a sequence"],
    [asked({ headers: [{}] }), "missing field `name`"],
    [asked({ headers: [{ name: "a" }] }), "missing field `value`"],
    [
      asked({ headers: [{ name: "bad name", value: "v" }] }),
      "http/request header name is invalid: invalid HTTP header name",
    ],
    [asked({ headers: [{ name: "", value: "v" }] }), "http/request header name is invalid: invalid HTTP header name"],
    [
      asked({ headers: [{ name: "x", value: "a\nb" }] }),
      "http/request header value is invalid for x: failed to parse header value",
    ],
    [
      asked({ headers: [{ name: "x", value: "a\0b" }] }),
      "http/request header value is invalid for x: failed to parse header value",
    ],
    [asked({ redirectPolicy: "zz" }), "unknown variant `zz`, expected `follow` or `stop`"],
    [asked({ redirectPolicy: null }), "invalid type: null, expected string or map"],
    [asked({ bodyBase64: "!" }), "Invalid symbol 33, offset 0."],
    [asked({ timeoutMs: -1 }), "invalid number"],
    [asked({ timeoutMs: "x" }), 'invalid type: string "x", expected u64'],
    [asked({ streamResponse: null }), "invalid type: null, expected a boolean"],
    [asked({ method: "B AD" }), "http/request method is invalid: invalid HTTP method"],
    [asked({ method: "" }), "http/request method is invalid: invalid HTTP method"],
    [asked({ method: "é" }), "http/request method is invalid: invalid HTTP method"],
    [
      asked({ method: "CONNECT" }),
      "http/request method is invalid: CONNECT opens a tunnel, which this method cannot carry",
    ],
    [asked({ url: "" }), "http/request url is invalid: relative URL without a base"],
    [asked({ url: "nourl" }), "http/request url is invalid: relative URL without a base"],
    [asked({ url: "http:" }), "http/request url is invalid: empty host"],
    [asked({ url: "http://127.0.0.1:99999/" }), "http/request url is invalid: invalid port number"],
    [asked({ url: "http://ex ample/" }), "http/request url is invalid: invalid international domain name"],
    [asked({ url: "ftp://127.0.0.1:1/" }), "http/request only supports http and https URLs, got ftp"],
    [asked({ url: "file:///etc" }), "http/request only supports http and https URLs, got file"],
    [asked({ url: "data:text/plain,hi" }), "http/request only supports http and https URLs, got data"],
  ])("%# are refused, and the refusal names the field", async (params, words) => {
    expect(await connection.refusal(params)).toBe(`-32602 ${words}`);
  });
});

describe("a failure of an HTTP request", () => {
  it("to connect names the address", async () => {
    const raw = await rawServer(() => undefined);
    raw.close();
    const url = raw.url.replace("//", "//user:pw@");
    expect(await connection.refusal({ ...servers.get("/"), url: `${url}?x#y` })).toBe(
      `-32603 http/request failed: error sending request for url (${raw.url}?x#y): connect ECONNREFUSED ${raw.url.slice(7, -1)}`,
    );
  });

  it("of TLS is reported as such", async () => {
    const url = servers.base.replace("http:", "https:");
    expect(await connection.refusal(servers.get("/", { url }))).toContain(
      `-32603 http/request failed: error sending request for url (${url}/): `,
    );
  });

  it.each([
    ["that is not HTTP", "garbage\r\n\r\n", /^http\/request failed: error sending request for url .*: Parse Error/],
    ["that ends at once", "", /^http\/request failed: error sending request for url .*: socket hang up/],
    [
      "that breaks off",
      "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc",
      /^failed to read http\/request response body: error decoding response body: aborted$/,
    ],
    ["that breaks off between chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", /aborted$/],
  ])("is a response %s", async (_, said, words) => {
    expect(await answerTo(said)).toMatch(words);
  });
});

describe("the time for a request", () => {
  it("includes the wait for a response", async () => {
    servers.handlers.set("/never", () => undefined);
    expect(await connection.refusal(servers.get("/never", { timeoutMs: 50 }))).toBe(
      `-32603 http/request failed: error sending request for url (${servers.base}/never): timed out after 50 ms`,
    );
  });

  it("includes the time for the body", async () => {
    servers.handlers.set("/part", (_, response) => void response.write("abc"));
    expect(await connection.refusal(servers.get("/part", { timeoutMs: 100 }))).toBe(
      "-32603 failed to read http/request response body: error decoding response body: timed out after 100 ms",
    );
  });

  it("includes the body of a stream, however slowly it arrives", async () => {
    servers.handlers.set("/drip", (_, response) => {
      const timer = setInterval(() => response.write("x"), 10);
      response.on("close", () => clearInterval(timer));
    });
    await connection.call(servers.get("/drip", { timeoutMs: 150, streamResponse: true }));
    const deltas = await connection.body("r");
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.at(-1)).toMatchObject({
      deltaBase64: "",
      done: true,
      error: "error decoding response body: timed out after 150 ms",
    });
  });

  it("may be unlimited, or longer than the longest timer", async () => {
    expect(await connection.refusal(servers.get("/", { timeoutMs: 0 }))).toContain("timed out after 0 ms");
    for (const timeoutMs of [null, 2 ** 31, 2 ** 60]) {
      expect(await connection.call(servers.get("/", { timeoutMs }))).toMatchObject({ status: 200 });
    }
  });
});
