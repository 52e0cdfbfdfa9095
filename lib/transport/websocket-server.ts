// Accepts WebSockets on TCP or a unix socket, in one or two languages on the same port: a client that offers our
// subprotocol speaks that, one that offers none is text. What is refused is refused during the handshake, so that a
// browser page of another origin or a scanner never gets a connection. Node only.
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { WebSocketServer } from "ws";
import { ExecwireError } from "../errors.ts";
import { acceptOneRequestEach } from "./one-request.ts";
import type { ReadTurns } from "./read-turns.ts";
import type { Transport } from "./transport.ts";
import { boundPeer, receiverBounds } from "./untrusted-peer.ts";
import { type WaitingBounds, WaitingSockets } from "./waiting-sockets.ts";
import { type FrameKind, webSocketTransport } from "./websocket-node.ts";

/** Linux keeps this many bytes of a unix socket's path, the NUL aside; a longer one would be cut in silence. */
const MAX_UNIX_PATH_BYTES = 107;

/** Bytes of a request's head: Node's own bound, said here since it bounds what a peer without a token can send. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Connections that the kernel holds until they are accepted: where it drops one, its peer tries again a second later. */
const BACKLOG = 4096;

/** A refusal of an upgrade: the status line, and a sentence for people. */
export interface HttpRefusal {
  readonly status: string;
  readonly text: string;
}

/** One of the languages spoken on a port. */
export interface Door {
  readonly kind: FrameKind;
  /** A message, whole or in pieces; a larger one closes the connection with 1009. */
  readonly frameBytes: number;
  /** Who shows this Authorization header stays outside, for the reason returned. */
  readonly refuse?: (authorization: string | undefined) => HttpRefusal | undefined;
  readonly onTransport: (transport: Transport, request: { readonly authorization: string | undefined }) => void;
}

/** Where to listen, and whom to let in. */
export interface WebSocketListenerOptions {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
  /** For clients that offer `subprotocol`. */
  readonly native: Door & { readonly subprotocol: string };
  /** For clients that offer none; without it they are refused. */
  readonly plain?: Door | undefined;
  /** What a peer may send before `Transport.admit` is called. */
  readonly helloBytes: number;
  /** Bounds of the sockets for which it was not called yet. */
  readonly waiting: WaitingBounds;
  /** Origins of web pages that may connect; programs send none. Default: no page at all. */
  readonly allowedOrigins: readonly string[];
  /** In which its peers are read. */
  readonly turns: ReadTurns;
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
  const { native, plain, helloBytes } = options;
  const http = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
    const { status, text } = answerTo(request);
    // One request each: a connection that stays without a handshake is hung up on, maybe in the middle of the next one.
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text);
  });
  const firstBytes = (door: Door) => Math.min(helloBytes, door.frameBytes);
  const sockets = new Map(
    [native, plain].map((door) => [door, door && socketServer(firstBytes(door), native.subprotocol)]),
  );
  const waiting = new WaitingSockets(options.waiting);
  acceptOneRequestEach(http, MAX_HEAD_BYTES);
  http.on("connection", (socket: Socket) => waiting.add(socket));
  http.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node takes its own listener away before this event: without ours a reset would end the program.
    socket.on("error", () => socket.destroy());
    const { authorization } = request.headers;
    const door = doorOf(request, options);
    const refusal = "status" in door ? door : door.refuse?.(authorization);
    if (refusal) return refuseUpgrade(socket, refusal);
    const { kind, onTransport } = door as Door;
    socket.setNoDelay(true);
    sockets.get(door as Door)?.handleUpgrade(request, socket, head, (webSocket) => {
      waiting.shaken(socket);
      const transport = webSocketTransport(webSocket, socket, kind, options.turns);
      onTransport(boundPeer(transport, webSocket, socket, { helloBytes, onAdmitted: () => waiting.release(socket) }), {
        authorization,
      });
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

/** The plain HTTP of the Codex exec-server: `/readyz` for probes, and nothing else for anybody. */
function answerTo({ method, url, headers }: IncomingMessage): { readonly status: number; readonly text: string } {
  if (headers.origin !== undefined) return { status: 403, text: "" };
  const path = pathOf(url);
  if (path === "/readyz") return { status: method === "GET" || method === "HEAD" ? 200 : 405, text: "" };
  if (path !== "/") return { status: 404, text: "" };
  if (method !== "GET") return { status: 405, text: "Request method must be `GET`" };
  return { status: 400, text: "Connection header did not include 'upgrade'" };
}

/** The language of a client, or why it is refused. */
function doorOf(
  { headers, url }: IncomingMessage,
  { allowedOrigins, native, plain }: WebSocketListenerOptions,
): Door | HttpRefusal {
  const { origin } = headers;
  if (origin !== undefined && !allowedOrigins.includes(origin)) return { status: "403 Forbidden", text: "" };
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  if (offered.includes(native.subprotocol)) return native;
  // Another version of ours is not a client of the other language.
  const isOurs = offered.some((name) => name.startsWith(native.subprotocol.replace(/\d+$/, "")));
  if (!plain || isOurs) return { status: "400 Bad Request", text: `offer the subprotocol ${native.subprotocol}` };
  return pathOf(url) === "/" ? plain : { status: "404 Not Found", text: "" };
}

function pathOf(url: string | undefined): string {
  return url?.split("?", 1)[0] ?? "/";
}

function refuseUpgrade(socket: Socket, { status, text }: HttpRefusal): void {
  const head = `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: `;
  socket.end(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

async function listen(http: Server, address: WebSocketListenerOptions["address"]): Promise<void> {
  if (!("path" in address)) return listenOnce(http, () => http.listen({ ...address, backlog: BACKLOG }));
  const bytes = Buffer.byteLength(address.path);
  if (bytes > MAX_UNIX_PATH_BYTES) {
    const message = `the path of a unix socket may have ${MAX_UNIX_PATH_BYTES} bytes, ${address.path} has ${bytes}`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "path" } });
  }
  await removeStale(address.path);
  // Nobody but us may connect from the first moment on, not only after a chmod.
  const mask = process.umask(0o177);
  try {
    await listenOnce(http, () => http.listen({ ...address, backlog: BACKLOG }));
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

function closeServer(http: Server, waiting: WaitingSockets): Promise<void> {
  waiting.destroy();
  return new Promise((resolve) => http.close(() => resolve()));
}
