// A WebSocket of the `ws` package as a transport, for clients and servers. Node only.
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Inflow, ReadTurns } from "../admission/read-turns.ts";
import { CLOSE_MS, closeReason, type Transport, type TransportHandlers } from "../transport.ts";

/** Largest fragment of a text message: peers limit fragments (16 MiB is common) far below whole messages. */
const FRAGMENT_BYTES = 8 * 1024 * 1024;

/** The frames of a socket: binary for our own protocol, or text, which a peer may also send as binary. */
export type FrameKind = "binary" | "text";

/** Node's stream below the WebSocket. Only its handle shows how much of a write the kernel has not accepted. */
type Below = Duplex & { readonly _handle?: { readonly writeQueueSize?: number } | null };

/**
 * Makes a transport of an open socket. Frames sent in one turn of the event loop go to `stream`, the connection below, in one
 * write: a system call for each small frame would cost more than everything else. With `turns` it is read in turns with others.
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
        // After a connection broke, `ws` delivers the rest of its buffer at once, out of turn: ignore it.
        if (inflow && stream?.destroyed) return;
        // A text message in the binary protocol is passed on as an empty frame, which is refused as an invalid message.
        deliver(() => handlers.frame(isBinary || kind === "text" ? data : new Uint8Array()));
      });
      socket.on("pong", (payload: Buffer) => {
        if (payload.length === 4 && handlers.pong) deliver(() => handlers.pong?.(payload.readUInt32BE()));
      });
      // `close` follows every error, with its code. Until then incoming data is discarded, for which it must be read.
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
      // A socket that breaks calls back with an error for each waiting frame: these do not count as room for more.
      const done = (error?: Error) => {
        if (!error) sent?.();
      };
      if (kind === "binary") socket.send(frame, done);
      else sendText(socket, frame, done);
    },
    ping(pingId) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(pingId);
      // It fails on a socket that is closing, which `closed` reports.
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
      // A paused socket must read again to receive the peer's close frame.
      inflow?.resume();
      socket.close(code, closeReason(reason));
      // Cleared, since the timer keeps the closed connection in memory.
      const timer = setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      socket.once("close", () => clearTimeout(timer));
    },
    terminate() {
      socket.terminate();
    },
  };
}

/**
 * Answers pings; the automatic pongs of `ws` are off at servers. While a pong waits to be sent, only the latest ping is
 * remembered (RFC 6455, 5.5.3), so a peer that sends pings and does not read cannot fill the memory.
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
