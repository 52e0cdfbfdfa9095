// A WebSocket of the `ws` package as a transport, on either side. Node only.
import type { WebSocket } from "ws";
import { closeReason, type Transport, type TransportHandlers } from "./transport.ts";

/** A peer that does not answer the closing handshake is not waited for any longer. */
const CLOSE_MS = 2000;

/** Takes over an open socket. */
export function webSocketTransport(socket: WebSocket): Transport {
  socket.binaryType = "nodebuffer";
  return {
    listen(handlers: TransportHandlers) {
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        // Text is no frame of ours; an empty frame is no message, so the peer is told the same way.
        handlers.frame(isBinary ? data : new Uint8Array());
      });
      // `close` follows every error, with its code.
      socket.on("error", () => undefined);
      socket.once("close", (code: number, reason: Buffer) => handlers.closed(code, reason.toString()));
    },
    send(frame, sent) {
      socket.send(frame, () => sent?.());
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
