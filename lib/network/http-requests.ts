// The HTTP side of a proxy: requests with an absolute URL, and tunnels by CONNECT. Each request is judged, also on a connection
// that is reused, by the host of its URL: its Host header is replaced, since a server with many sites would trust it.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { dial, join } from "./dial.ts";
import type { Judge, Verdict } from "./judge.ts";

/** How long a program may take to send the head of a request. */
const HEADERS_MS = 20_000;
const MAX_HEADER_BYTES = 32 * 1024;

/** Headers about one connection, not for the server behind it (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/** A server without a port of its own: pass it connections by `emit("connection")`. */
export function httpProxy(judge: Judge): Server {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_MS, requestTimeout: 0 });
  server.on("request", (incoming, answer) => {
    void forward(judge, incoming, answer).catch(() => answer.destroy());
  });
  server.on("connect", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    void tunnel(judge, incoming, socket as Socket, head).catch(() => socket.destroy());
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  return server;
}

async function forward(judge: Judge, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const url = parseUrl(incoming.url ?? "");
  if (url?.protocol !== "http:")
    return refuse(answer, 400, "this is a proxy: it takes absolute http:// URLs and CONNECT");
  const gone = new AbortController();
  answer.on("close", () => gone.abort());
  const port = url.port === "" ? 80 : Number(url.port);
  const target = { protocol: "http", host: url.hostname.replace(/^\[|\]$/g, ""), port } as const;
  const verdict = await judge.judge({ ...target, method: incoming.method ?? "GET" }, gone.signal);
  if (!verdict.isAllowed) return refuse(answer, 403, blocked(verdict), verdict.reason);
  const upstream = await dial(verdict.addresses, port, gone.signal).catch((error: Error) => error);
  if (upstream instanceof Error) return refuse(answer, 502, `cannot connect to ${url.host}: ${upstream.message}`);
  const outgoing = request({
    createConnection: () => upstream,
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers: ["Host", url.host, ...endToEnd(incoming)] as unknown as readonly string[],
    setHost: false,
  });
  outgoing.on("response", (response) => {
    answer.writeHead(response.statusCode ?? 502, response.statusMessage, endToEnd(response) as never);
    pipeline(response, answer, () => undefined);
  });
  outgoing.on("error", (error) => refuse(answer, 502, `${url.host} failed: ${error.message}`));
  answer.on("close", () => outgoing.destroy());
  pipeline(incoming, outgoing, () => undefined);
}

async function tunnel(judge: Judge, { url = "" }: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  const gone = new AbortController();
  socket.on("error", () => undefined);
  socket.on("close", () => gone.abort());
  const [, host = "", digits = ""] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(url) ?? [];
  const port = Number(digits);
  const target = { protocol: "connect", host: host.replace(/^\[|\]$/g, "") || url, port, method: "CONNECT" } as const;
  const verdict = await judge.judge(target, gone.signal);
  if (!verdict.isAllowed) return void socket.end(responseHead(403, blocked(verdict), verdict.reason));
  const upstream = await dial(verdict.addresses, port, gone.signal).catch((error: Error) => error);
  if (upstream instanceof Error)
    return void socket.end(responseHead(502, `cannot connect to ${host}:${port}: ${upstream.message}`));
  socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.length > 0) upstream.write(head);
  join(socket, upstream);
}

/** Names and values of the headers that are passed on, in their order. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.includes(lower) && !named.includes(lower)) kept.push(name, value);
  }
  return kept;
}

function refuse(answer: ServerResponse, status: number, text: string, reason?: string): void {
  if (answer.headersSent) return void answer.destroy();
  const headers = { "Content-Type": "text/plain", Connection: "close" };
  answer.writeHead(status, reason === undefined ? headers : { ...headers, [REASON_HEADER]: headerText(reason) });
  answer.end(`${text}\n`);
}

function responseHead(status: 403 | 502, text: string, reason?: string): string {
  const lines = [`HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Bad Gateway"}`, "Content-Type: text/plain"];
  if (reason !== undefined) lines.push(`${REASON_HEADER}: ${headerText(reason)}`);
  return `${[...lines, "Connection: close", "", text].join("\r\n")}\n`;
}

/** The reason, for programs that show no body of a refused CONNECT. */
const REASON_HEADER = "X-Proxy-Error";

function headerText(reason: string): string {
  return reason.replace(/[^\x20-\x7e]/g, "?");
}

function blocked({ host, reason }: Extract<Verdict, { isAllowed: false }>): string {
  return `the network policy of this process refuses ${host} (${reason})`;
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
