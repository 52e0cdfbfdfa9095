// The proxy of one process. Every connection to its listener comes from that process or its descendants, since nothing else is in
// the network namespace of the listener. So attribution depends on nothing that a program sends.
import type { Server as HttpServer } from "node:http";
import type { Server, Socket } from "node:net";
import { httpProxy } from "./http-requests.ts";
import type { Judge } from "./judge.ts";
import { SOCKS_VERSION, serveSocks } from "./socks.ts";

/** How long a connection may stay silent at its beginning. */
const FIRST_BYTE_MS = 20_000;

/** Serves HTTP, CONNECT and SOCKS 5 on one listener, by the first byte of a connection. */
export class NetworkProxy {
  readonly #judge: Judge;
  readonly #listener: Server;
  readonly #http: HttpServer;
  readonly #sockets = new Set<Socket>();

  /** Takes the listener over. Of more connections than `maxConnections`, further ones are closed at once. */
  constructor(judge: Judge, listener: Server, maxConnections: number) {
    this.#judge = judge;
    this.#listener = listener;
    this.#http = httpProxy(judge);
    listener.maxConnections = maxConnections;
    // A program may end its request and still read the answer. Node has this option only where the listener is made.
    Object.assign(listener, { allowHalfOpen: true });
    listener.on("connection", (socket) => this.#serve(socket));
    listener.on("error", () => undefined);
  }

  /** Ends every connection. */
  close(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#http.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    const tooSilent = setTimeout(() => socket.destroy(), FIRST_BYTE_MS);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(tooSilent);
      this.#sockets.delete(socket);
    });
    socket.once("end", () => {
      if (!isRecognized) socket.destroy();
    });
    let isRecognized = false;
    socket.once("readable", () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return void socket.destroy();
      isRecognized = true;
      clearTimeout(tooSilent);
      socket.unshift(first);
      if (first[0] === SOCKS_VERSION) void serveSocks(this.#judge, socket).catch(() => socket.destroy());
      else this.#http.emit("connection", socket);
    });
  }
}
