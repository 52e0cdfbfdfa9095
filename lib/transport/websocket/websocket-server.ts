// Accepts WebSockets on TCP or a unix socket, for one or two protocols on the same port: a client that offers our subprotocol
// uses it, and a client that offers none uses the plain route. Clients are refused during the handshake, so a browser page of
// another origin or a port scanner never gets a connection. Node only.
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { ExecwireError } from "../../errors.ts";
import type { ReadTurns } from "../admission/read-turns.ts";
import { boundPeer, receiverBounds } from "../admission/untrusted-peer.ts";
import { type WaitingBounds, WaitingSockets } from "../admission/waiting-sockets.ts";
import { CLOSE, CLOSE_MS, closeReason, type Transport } from "../transport.ts";
import { acceptOneRequestEach } from "./one-request.ts";
import { type FrameKind, webSocketTransport } from "./websocket-node.ts";

/** Linux keeps this many bytes of a unix socket's path, without the NUL. A longer path would be truncated silently. */
const MAX_UNIX_PATH_BYTES = 107;

/** Bytes of a request's head. This is Node's default, set here because it limits what an unauthenticated peer can send. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Connections that the kernel queues until they are accepted. If it drops one, the peer retries only a second later. */
const BACKLOG = 4096;

/** The head of a request. */
export type HttpRequest = Pick<IncomingMessage, "method" | "url" | "headers">;

/** The response to a request that does not become a WebSocket. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** A protocol that is served on the port. */
export interface UpgradeRoute {
  readonly kind: FrameKind;
  /** Limit on the bytes of a message, fragmented or not. A larger message closes the connection with 1009. */
  readonly frameBytes: number;
  /** Returns why an upgrade is refused; undefined accepts it. */
  readonly refuse?: (request: HttpRequest) => HttpAnswer | undefined;
  readonly onTransport: (transport: Transport, request: HttpRequest) => void;
}

/** The address to listen on, and which clients are accepted. */
export interface WebSocketListenerOptions {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
  /** For clients that offer `subprotocol`. */
  readonly native: UpgradeRoute & { readonly subprotocol: string };
  /** For clients that offer no subprotocol, and for requests that are not upgrades. Without it both are refused. */
  readonly plain?: (UpgradeRoute & { answer(request: HttpRequest): HttpAnswer }) | undefined;
  /** Bytes that a peer may send before `Transport.admit` is called. */
  readonly helloBytes: number;
  /** Limits on the sockets that are not admitted yet. */
  readonly waiting: WaitingBounds;
  /** Origins of web pages that may connect. Requests without an Origin header, which programs send, are not restricted. */
  readonly allowedOrigins: readonly string[];
  /** Called when a connection is refused, with a close code and the reason. */
  readonly onRefused: (code: number, reason: string) => void;
  /** The turns in which all peers of the server are read. */
  readonly turns: ReadTurns;
}

/** A listening socket. */
export interface Listener {
  /** The URL that a client passes to `connect`. */
  readonly url: string;
  /** Accepts no more connections. Open connections stay. */
  close(): Promise<void>;
}

/** Starts listening. Rejects if the address is not available. */
export async function listenWebSocket(options: WebSocketListenerOptions): Promise<Listener> {
  const { native, plain, helloBytes } = options;
  const http = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
    const { status, text } = plain?.answer(request) ?? mustOffer(native.subprotocol);
    // One request per connection: a connection without a handshake is ended after a time, which could hit its next request.
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text);
  });
  const routes: UpgradeRoute[] = plain ? [native, plain] : [native];
  const sockets = new Map(
    routes.map((route) => [route, socketServer(Math.min(helloBytes, route.frameBytes), native.subprotocol)]),
  );
  const waiting = new WaitingSockets(options.waiting);
  acceptOneRequestEach(http, MAX_HEAD_BYTES);
  http.on("connection", (socket: Socket) => waiting.add(socket));
  http.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node removes its own listener before this event; without ours a connection reset would crash the process.
    socket.on("error", () => socket.destroy());
    const route = routeOf(request, options);
    const refusal = "status" in route ? route : route.refuse?.(request);
    if (refusal) {
      const isOrigin = refusal === REFUSED_ORIGIN;
      const reason = isOrigin
        ? `pages of the origin ${printable(request.headers.origin)} may not connect`
        : refusal.text;
      options.onRefused(isOrigin ? CLOSE.originRefused : CLOSE.unauthorized, reason);
      // A page sees the code and reason of a close, but no HTTP response to an upgrade.
      const isPage = isOrigin && (request.headers["sec-websocket-protocol"] ?? "").includes(native.subprotocol);
      if (!isPage) return refuseUpgrade(socket, refusal);
      return sockets.get(native)?.handleUpgrade(request, socket, head, (webSocket) => refusePage(webSocket, reason));
    }
    const { kind, onTransport } = route as UpgradeRoute;
    socket.setNoDelay(true);
    sockets.get(route as UpgradeRoute)?.handleUpgrade(request, socket, head, (webSocket) => {
      waiting.handshakeDone(socket);
      const transport = webSocketTransport(webSocket, socket, kind, options.turns);
      const onAdmitted = () => waiting.release(socket);
      onTransport(boundPeer(transport, webSocket, socket, { helloBytes, onAdmitted }), request);
    });
  });
  await listen(http, options.address);
  return { url: urlOf(http, options.address), close: () => closeServer(http, waiting) };
}

function socketServer(frameBytes: number, subprotocol: string): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    ...receiverBounds(frameBytes),
    perMessageDeflate: false,
    clientTracking: false,
    autoPong: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
}

const REFUSED_ORIGIN: HttpAnswer = { status: 403, text: "" };

/** The route of a client, or the response that refuses it. */
function routeOf(
  { headers }: HttpRequest,
  { allowedOrigins, native, plain }: WebSocketListenerOptions,
): UpgradeRoute | HttpAnswer {
  const { origin } = headers;
  if (origin !== undefined && !allowedOrigins.includes(origin)) return REFUSED_ORIGIN;
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  if (offered.includes(native.subprotocol)) return native;
  // A client that offers another version of our subprotocol must not fall back to the plain route.
  const isOurs = offered.some((name) => name.startsWith(native.subprotocol.replace(/\d+$/, "")));
  if (!plain || isOurs) return mustOffer(native.subprotocol);
  return plain;
}

/** As it may be shown: the header is the peer's. */
function printable(header = ""): string {
  return header.replace(/[^\x21-\x7e]/g, "?").slice(0, 100);
}

/** Its upgrade was accepted only to close it at once. */
function refusePage(webSocket: WebSocket, reason: string): void {
  webSocket.on("error", () => undefined);
  webSocket.close(CLOSE.originRefused, closeReason(reason));
  setTimeout(() => webSocket.terminate(), CLOSE_MS).unref();
}

function mustOffer(subprotocol: string): HttpAnswer {
  return { status: 400, text: `connect with a WebSocket that offers the subprotocol ${subprotocol}` };
}

function refuseUpgrade(socket: Socket, { status, text }: HttpAnswer): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: `;
  socket.end(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

async function listen(http: Server, address: WebSocketListenerOptions["address"]): Promise<void> {
  if (!("path" in address)) {
    return listenOnce(http, () => http.listen({ ...address, backlog: BACKLOG })).catch((error) => {
      throw error.code === "EADDRINUSE" ? portInUse(address, error) : error;
    });
  }
  const bytes = Buffer.byteLength(address.path);
  if (bytes > MAX_UNIX_PATH_BYTES) {
    const message = `the path of a unix socket may have ${MAX_UNIX_PATH_BYTES} bytes, ${address.path} has ${bytes}`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "path" } });
  }
  await removeStale(address.path);
  // The umask keeps other users out from the moment the socket exists, not only after the chmod.
  const mask = process.umask(0o177);
  try {
    await listenOnce(http, () => http.listen({ ...address, backlog: BACKLOG }));
  } finally {
    process.umask(mask);
  }
  chmodSync(address.path, 0o600);
}

function portInUse({ host, port }: { readonly host: string; readonly port: number }, cause: unknown): ExecwireError {
  const message = `another program listens on port ${port} of ${host}; stop it, or choose another port (0: any free one)`;
  return new ExecwireError("INVALID_PARAMS", message, { data: { field: "port" }, cause });
}

/** Removes the socket file of a server that was killed: no process listens on it. */
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
  // A regular file refuses connections too, and must not be deleted.
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

function closeServer(http: Server, waiting: WaitingSockets): Promise<void> {
  waiting.destroy();
  return new Promise((resolve) => http.close(() => resolve()));
}
