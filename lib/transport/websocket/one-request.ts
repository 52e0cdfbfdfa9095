// Passes an HTTP server only the first request of each connection, and nothing after it unless it is an upgrade. Node parses and
// answers all requests of a chunk at once, thousands if pipelined, whether the peer reads the responses or not. Node only.
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

const END_OF_HEAD = "\r\n\r\n";
const UPGRADE = /\r\nupgrade[ \t]*:/i;

/** From now on `http` gets only the first request of each connection. A head larger than `maxHeadBytes` ends the connection. */
export function acceptOneRequestEach(http: Server, maxHeadBytes: number): void {
  const [serve] = http.listeners("connection") as [(connection: Duplex) => void];
  http.removeAllListeners("connection");
  http.on("connection", (socket: Socket) => {
    takeHead(socket, maxHeadBytes, (connection) => serve.call(http, connection));
  });
}

/** Reads the head of a request, then calls back with a connection that starts with it. */
function takeHead(socket: Socket, maxBytes: number, onHead: (connection: Duplex) => void): void {
  const head = Buffer.allocUnsafe(maxBytes);
  let length = 0;
  // The HTTP server adds its error listener only once it gets the connection.
  socket.on("error", () => socket.destroy());
  const onEnd = () => socket.destroy();
  // Keeps reading and discards: closing with unread data would send a reset, and the response could be lost.
  const refuse = () => {
    socket.off("data", onData).resume();
    socket.end("HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n");
  };
  const onData = (chunk: Buffer) => {
    const before = length;
    length += chunk.copy(head, before);
    const searched = Math.max(0, before - END_OF_HEAD.length);
    const end = head.subarray(0, length).indexOf(END_OF_HEAD, searched, "latin1");
    if (end < 0) {
      if (length === maxBytes) refuse();
      return;
    }
    socket.off("data", onData).off("end", onEnd).pause();
    const all = before === 0 ? chunk : Buffer.concat([head.subarray(0, before), chunk]);
    if (!UPGRADE.test(head.toString("latin1", 0, end)))
      return onHead(answerOnly(socket, all.subarray(0, end + END_OF_HEAD.length)));
    socket.unshift(all);
    onHead(socket);
    socket.resume();
  };
  socket.on("data", onData).on("end", onEnd);
}

/** A connection that carries only this request. What the peer sends after it is not read. */
function answerOnly(socket: Socket, request: Uint8Array): Duplex {
  const connection = new Duplex({
    read() {},
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    final(done) {
      socket.end(done);
      socket.destroySoon();
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.once("close", () => connection.destroy());
  connection.push(request);
  return connection;
}
