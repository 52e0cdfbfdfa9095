// Accepts WebSockets on TCP or a unix socket. What is refused is refused during the handshake, so that a browser page of
// another origin or a scanner never gets a connection. Node only.
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { WebSocketServer } from "ws";
import { ExecwireError } from "../errors.ts";
import type { Transport } from "./transport.ts";
import { webSocketTransport } from "./websocket-node.ts";

/** Linux keeps this many bytes of a unix socket's path, the NUL aside; a longer one would be cut in silence. */
const MAX_UNIX_PATH_BYTES = 107;

/** Emitted on a socket of ours once it is a WebSocket. */
const SHAKEN = "execwire:shaken";

/** Where to listen, and whom to let in. */
export interface WebSocketListenerOptions {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
  readonly subprotocol: string;
  readonly frameBytes: number;
  /** From the connection to the end of the handshake. */
  readonly handshakeMs: number;
  /** Origins of web pages that may connect; programs send none. Default: no page at all. */
  readonly allowedOrigins: readonly string[];
  readonly onTransport: (transport: Transport, request: { readonly authorization: string | undefined }) => void;
}

/** A listening socket. */
export interface Listener {
  /** What a client passes to `connect`. */
  readonly url: string;
  /** Accepts nobody any more. Open connections stay. */
  close(): Promise<void>;
}

/** Listens; rejects when the address is not to be had. */
export async function listenWebSocket(options: WebSocketListenerOptions): Promise<Listener> {
  const http = createServer((_request, response) => {
    response
      .writeHead(426, { "content-type": "text/plain" })
      .end("this is an execwire server: connect with a WebSocket\n");
  });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(options.subprotocol) ? options.subprotocol : false),
  });
  // A socket that has not shaken hands is counted, timed and ended here; Node waits for a request much longer.
  const waiting = new Set<Socket>();
  http.on("connection", (socket: Socket) => {
    waiting.add(socket);
    const timer = setTimeout(() => socket.destroy(), options.handshakeMs).unref();
    const done = () => {
      clearTimeout(timer);
      waiting.delete(socket);
    };
    socket.once("close", done);
    socket.once(SHAKEN, done);
  });
  http.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node takes its own listener away before this event: without ours a reset would end the program.
    socket.on("error", () => socket.destroy());
    const refusal = refusalOf(request, options);
    if (refusal) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    socket.setNoDelay(true);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      socket.emit(SHAKEN);
      options.onTransport(webSocketTransport(webSocket), { authorization: request.headers.authorization });
    });
  });
  await listen(http, options.address);
  return { url: urlOf(http, options.address), close: () => closeServer(http, waiting) };
}

function refusalOf(
  request: IncomingMessage,
  { allowedOrigins, subprotocol }: WebSocketListenerOptions,
): string | undefined {
  const { origin } = request.headers;
  if (origin !== undefined && !allowedOrigins.includes(origin)) return "403 Forbidden";
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return offered.includes(subprotocol) ? undefined : "400 Bad Request";
}

async function listen(http: Server, address: WebSocketListenerOptions["address"]): Promise<void> {
  if (!("path" in address)) return listenOnce(http, () => http.listen(address.port, address.host));
  const bytes = Buffer.byteLength(address.path);
  if (bytes > MAX_UNIX_PATH_BYTES) {
    const message = `the path of a unix socket may have ${MAX_UNIX_PATH_BYTES} bytes, ${address.path} has ${bytes}`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "path" } });
  }
  await removeStale(address.path);
  // Nobody but us may connect from the first moment on, not only after a chmod.
  const mask = process.umask(0o177);
  try {
    await listenOnce(http, () => http.listen(address.path));
  } finally {
    process.umask(mask);
  }
  chmodSync(address.path, 0o600);
}

/** A socket file that nobody listens on is left from a server that was killed. */
async function removeStale(path: string): Promise<void> {
  const answers = await new Promise<boolean | undefined>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED" ? false : undefined));
  });
  if (answers)
    throw new ExecwireError("INVALID_PARAMS", `another server listens on ${path}`, { data: { field: "path" } });
  // A plain file refuses connections as well; it is not ours to delete.
  if (answers === false && lstatSync(path).isSocket()) unlinkSync(path);
}

function listenOnce(http: Server, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.once("listening", () => {
      http.off("error", reject);
      resolve();
    });
    start();
  });
}

function urlOf(http: Server, address: WebSocketListenerOptions["address"]): string {
  if ("path" in address) return `unix:${address.path}`;
  const { port } = http.address() as AddressInfo;
  return `ws://${address.host.includes(":") ? `[${address.host}]` : address.host}:${port}`;
}

function closeServer(http: Server, waiting: ReadonlySet<Socket>): Promise<void> {
  for (const socket of waiting) socket.destroy();
  return new Promise((resolve) => http.close(() => resolve()));
}
