// A WebSocket of the `ws` package as a transport, on either side. Node only.
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { CLOSE_MS, closeReason, type Transport, type TransportHandlers } from "./transport.ts";

/** Text goes out in pieces of this size at most: peers bound a piece (16 MiB is common) far below a whole message. */
const FRAGMENT_BYTES = 8 * 1024 * 1024;

/** What the frames of a socket are: binary of our own, or text (which a peer may send as binary as well). */
export type FrameKind = "binary" | "text";

/**
 * Takes over an open socket. What is sent in one turn of the event loop goes to `stream`, the connection below, in one
 * write: a system call for each small frame would cost more than all else.
 */
export function webSocketTransport(socket: WebSocket, stream: Duplex | undefined, kind: FrameKind): Transport {
  socket.binaryType = "nodebuffer";
  let isCorked = false;
  const uncork = () => {
    isCorked = false;
    stream?.uncork();
  };
  const cork = () => {
    if (isCorked || !stream) return;
    isCorked = true;
    stream.cork();
    setImmediate(uncork);
  };
  return {
    listen(handlers: TransportHandlers) {
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        // Text where binary is spoken is no frame; an empty frame is no message, so the peer is told the same way.
        handlers.frame(isBinary || kind === "text" ? data : new Uint8Array());
      });
      socket.on("pong", (sign: Buffer) => {
        if (sign.length === 4) handlers.pong?.(sign.readUInt32BE());
      });
      // `close` follows every error, with its code.
      socket.on("error", () => undefined);
      socket.once("close", (code: number, reason: Buffer) => handlers.closed(code, reason.toString()));
    },
    send(frame, sent) {
      cork();
      if (kind === "binary") socket.send(frame, () => sent?.());
      else sendText(socket, frame, () => sent?.());
    },
    ping(sign) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(sign);
      // It fails on a socket that is closing, which tells of itself.
      socket.ping(payload, undefined, () => undefined);
    },
    close(code, reason) {
      socket.close(code, closeReason(reason));
      setTimeout(() => socket.terminate(), CLOSE_MS).unref();
    },
    terminate() {
      socket.terminate();
    },
  };
}

function sendText(socket: WebSocket, frame: Uint8Array, sent: () => void): void {
  let start = 0;
  while (frame.length - start > FRAGMENT_BYTES) {
    socket.send(frame.subarray(start, start + FRAGMENT_BYTES), { binary: false, fin: false });
    start += FRAGMENT_BYTES;
  }
  socket.send(start === 0 ? frame : frame.subarray(start), { binary: false, fin: true }, sent);
}
