// http/request: an HTTP request that the server makes for its client (section 8). Its target is a small server of the check.
import { createServer } from "node:http";
import { base64, outcome, text } from "../observe.mjs";

/** Serves echoes, redirects, truncated and missing answers on a free port. */
async function serveEcho(ctx) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => {
      body += data;
    });
    request.on("end", () => {
      if (request.url === "/away") response.writeHead(302, { location: "/here" }).end("moved");
      else if (request.url === "/missing") response.writeHead(404).end("nothing");
      else if (request.url === "/large") response.end("x".repeat(300_000));
      else if (request.url === "/cut") response.write("abc", () => response.destroy());
      else if (request.url !== "/never") {
        response.setHeader("x-answer", "yes");
        response.end(
          JSON.stringify({ method: request.method, url: request.url, asked: request.headers["x-asked"], body }),
        );
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ctx.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

const requested = (
  id,
  what,
  params,
  expect,
  observe = ({ status, bodyBase64 }) => ({ status, body: text(bodyBase64) }),
) => ({
  id: `http/${id}`,
  section: "8",
  what,
  run: async (ctx) => {
    const base = await serveEcho(ctx);
    const { path, ...rest } = params;
    const request = { method: "GET", url: base + path, requestId: "r", ...rest };
    const { result, error } = await (await ctx.session()).call("http/request", request);
    return error ? error.code : observe(result);
  },
  expect,
});

const refused = (id, what, params, expect) => ({
  id: `http/${id}`,
  section: "8",
  what,
  run: async (ctx) => {
    const request = { method: "GET", url: "http://127.0.0.1:1/", requestId: "r", ...params };
    return outcome(await (await ctx.session()).call("http/request", request));
  },
  expect,
});

const HERE = JSON.stringify({ method: "GET", url: "/here", body: "" });

export const http = [
  requested("get", "a GET returns status and body", { path: "/here" }, { status: 200, body: HERE }),
  requested(
    "post",
    "method, headers and body reach the other side",
    { path: "/post", method: "POST", headers: [{ name: "X-Asked", value: "yes" }], bodyBase64: base64("body") },
    { status: 200, body: JSON.stringify({ method: "POST", url: "/post", asked: "yes", body: "body" }) },
  ),
  requested(
    "headers",
    "the headers are returned as a list of names and values",
    { path: "/here" },
    [{ name: "x-answer", value: "yes" }],
    ({ headers }) => headers.filter(({ name }) => name === "x-answer"),
  ),
  requested("missing", "an error status is an answer", { path: "/missing" }, { status: 404, body: "nothing" }),
  requested("follow", "redirects are followed", { path: "/away" }, { status: 200, body: HERE }),
  requested(
    "stop",
    "redirects are not followed with redirectPolicy stop",
    { path: "/away", redirectPolicy: "stop" },
    { status: 302, body: "moved" },
  ),
  requested("timeout", "a timeout is -32603", { path: "/never", timeoutMs: 200 }, -32603),
  {
    id: "http/stream",
    section: "8",
    what: "a streamed body arrives in numbered chunks, the last of which is done",
    run: async (ctx) => {
      const base = await serveEcho(ctx);
      const peer = await ctx.session();
      const request = { method: "GET", url: `${base}/large`, requestId: "s", streamResponse: true };
      const { status, bodyBase64 } = await peer.ask("http/request", request);
      const isPiece = ({ method, params }) => method === "http/request/bodyDelta" && params.requestId === "s";
      const last = await peer.waitFor((message) => isPiece(message) && message.params.done);
      await peer.waitFor(() => peer.messages.filter(isPiece).length === last.params.seq);
      const pieces = peer.messages
        .filter(isPiece)
        .map(({ params }) => params)
        .sort((a, b) => a.seq - b.seq);
      const bytes = pieces.reduce((sum, { deltaBase64 }) => sum + Buffer.from(deltaBase64, "base64").length, 0);
      return {
        status,
        bodyBase64,
        bytes,
        isDense: pieces.every(({ seq }, index) => seq === index + 1),
        error: last.params.error ?? null,
      };
    },
    expect: { status: 200, bodyBase64: "", bytes: 300_000, isDense: true, error: null },
  },
  requested(
    "header-variable",
    "the end of a header value may come from the environment of the server",
    { path: "/here", headers: [{ name: "X-Asked", value: "Bearer ", valueEnvVar: "CHECK_PLAIN" }] },
    "Bearer plain",
    ({ bodyBase64 }) => JSON.parse(text(bodyBase64)).asked,
  ),
  requested("cut", "a truncated body is -32603", { path: "/cut" }, -32603),
  {
    id: "http/stream-cut",
    section: "8",
    what: "a truncated streamed body ends with an error",
    run: async (ctx) => {
      const url = `${await serveEcho(ctx)}/cut`;
      const peer = await ctx.session();
      await peer.ask("http/request", { method: "GET", url, requestId: "s", streamResponse: true });
      const { params } = await peer.waitFor(({ method, params }) => method === "http/request/bodyDelta" && params.done);
      return { last: params.deltaBase64, error: typeof params.error };
    },
    expect: { last: "", error: "string" },
  },
  refused("unreachable", "a refused connection is -32603", {}, -32603),
  refused("scheme", "another scheme than http and https is -32602", { url: "ftp://127.0.0.1/" }, -32602),
  refused("no-url", "an invalid URL is -32602", { url: "nowhere" }, -32602),
  refused("method", "an invalid method is -32602", { method: "B AD" }, -32602),
  refused("policy", "an unknown redirect policy is -32602", { redirectPolicy: "maybe" }, -32602),
  refused("body", "bad base64 is -32602", { bodyBase64: "!" }, -32602),
  refused("no-request-id", "a missing requestId is -32602", { requestId: undefined }, -32602),
];
