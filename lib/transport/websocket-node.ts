// A WebSocket of the `ws` package as a transport, on either side. Node only.
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Inflow, ReadTurns } from "./read-turns.ts";
import { CLOSE_MS, closeReason, type Transport, type TransportHandlers } from "./transport.ts";

/** Text goes out in pieces of this size at most: peers bound a piece (16 MiB is common) far below a whole message. */
const FRAGMENT_BYTES = 8 * 1024 * 1024;

/** What the frames of a socket are: binary of our own, or text (which a peer may send as binary as well). */
export type FrameKind = "binary" | "text";

/** The connection below, as Node makes it: what the kernel has not taken of a write shows nowhere else. */
type Below = Duplex & { readonly _handle?: { readonly writeQueueSize?: number } | null };

/**
 * Takes over an open socket. What is sent in one turn of the event loop goes to `stream`, the connection below, in one
 * write: a system call for each small frame would cost more than all else. With `turns` it is read in turns with others.
 */
export function webSocketTransport(
  socket: WebSocket,
  stream: Below | undefined,
  kind: FrameKind,
  turns?: ReadTurns,
): Transport {
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
  let inflow: Inflow | undefined;
  return {
    listen(handlers: TransportHandlers) {
      const deliver = (piece: () => void) => (inflow ? inflow.offer(piece) : piece());
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        // What `ws` finds in the buffer of a connection that broke is handed over all at once, out of turn.
        if (inflow && stream?.destroyed) return;
        // Text where binary is spoken is no frame; an empty frame is no message, so the peer is told the same way.
        deliver(() => handlers.frame(isBinary || kind === "text" ? data : new Uint8Array()));
      });
      socket.on("pong", (sign: Buffer) => {
        if (sign.length === 4 && handlers.pong) deliver(() => handlers.pong?.(sign.readUInt32BE()));
      });
      // `close` follows every error, with its code; until then what comes is thrown away, which needs reading.
      socket.on("error", () => inflow?.resume());
      socket.once("close", (code: number, reason: Buffer) => {
        inflow?.resume();
        deliver(() => handlers.closed(code, reason.toString()));
      });
      if (!turns || !stream) return;
      inflow = turns.open(stream);
      answerPings(socket, cork);
    },
    send(frame, sent) {
      cork();
      // A socket that breaks reports each frame that waits: that is no room for more.
      const done = (error?: Error) => {
        if (!error) sent?.();
      };
      if (kind === "binary") socket.send(frame, done);
      else sendText(socket, frame, done);
    },
    ping(sign) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(sign);
      // It fails on a socket that is closing, which tells of itself.
      socket.ping(payload, undefined, () => undefined);
    },
    pause() {
      if (inflow) inflow.pause();
      else socket.pause();
    },
    resume() {
      if (inflow) inflow.resume();
      else socket.resume();
    },
    rank: (rank) => inflow?.rank(rank),
    unsentBytes: () => socket.bufferedAmount + (stream?._handle?.writeQueueSize ?? 0),
    close(code, reason) {
      // The peer's part of the closing is read, whatever else was held back.
      inflow?.resume();
      socket.close(code, closeReason(reason));
      // Cleared, or each closed connection would be kept for so long.
      const timer = setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      socket.once("close", () => clearTimeout(timer));
    },
    terminate() {
      socket.terminate();
    },
  };
}

/**
 * Answers pings, which the server's sockets are told not to do by themselves: while a pong waits to be sent, only the latest
 * ping is remembered (RFC 6455, 5.5.3), so a peer that pings and does not read makes nothing grow.
 */
function answerPings(socket: WebSocket, cork: () => void): void {
  let isSending = false;
  let latest: Buffer | undefined;
  const answer = (payload: Buffer) => {
    isSending = true;
    cork();
    socket.pong(payload, undefined, () => {
      isSending = false;
      const next = latest;
      latest = undefined;
      if (next && socket.readyState === WebSocket.OPEN) answer(next);
    });
  };
  socket.on("ping", (payload: Buffer) => {
    if (isSending) latest = Buffer.from(payload);
    else if (socket.readyState === WebSocket.OPEN) answer(payload);
  });
}

function sendText(socket: WebSocket, frame: Uint8Array, sent: (error?: Error) => void): void {
  let start = 0;
  while (frame.length - start > FRAGMENT_BYTES) {
    socket.send(frame.subarray(start, start + FRAGMENT_BYTES), { binary: false, fin: false });
    start += FRAGMENT_BYTES;
  }
  socket.send(start === 0 ? frame : frame.subarray(start), { binary: false, fin: true }, sent);
}
