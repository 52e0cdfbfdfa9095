// Limits the memory that the peer of a WebSocket can occupy here: almost none until it has authenticated, then one frame of the
// size that its role needs, and none once its connection is being closed. Node only.
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { CLOSE, CLOSE_MS, type Transport } from "../transport.ts";

/** Overhead of a received chunk in bytes: two objects and an allocation. */
const PIECE_BYTES = 256;
/** A hello of full size may arrive in chunks as small as 1 KiB. */
const HELLO_PIECES = 64;

/** The fewest pieces that are allowed, and the defaults of `ws`. Each piece is an object until its message is complete. */
const FEW_PIECES = 256;
const MOST_FRAGMENTS = 16 * 1024;
const MOST_CHUNKS = 256 * 1024;

/** The close code of `ws` for a message in too many pieces. */
const TOO_MANY_PIECES = 1008;

/** Limits on one connection, as options of `ws`. */
export interface ReceiverBounds {
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

/** The limits for frames of this size. */
export function receiverBounds(frameBytes: number): ReceiverBounds {
  const pieces = Math.max(FEW_PIECES, Math.floor(frameBytes / FEW_PIECES));
  return {
    maxPayload: frameBytes,
    maxFragments: Math.min(pieces, MOST_FRAGMENTS),
    maxBufferedChunks: Math.min(pieces, MOST_CHUNKS),
  };
}

/** The same limits in the private fields of `ws`. */
interface Receiver {
  _maxPayload: number;
  _maxFragments: number;
  _maxBufferedChunks: number;
}

/**
 * Limits what the peer of a new WebSocket may send until `admit` is called, which calls `onAdmitted`. The socket must have been
 * created with `receiverBounds(helloBytes)`.
 */
export function boundPeer(
  transport: Transport,
  webSocket: WebSocket,
  stream: Socket,
  { helloBytes, onAdmitted }: { readonly helloBytes: number; readonly onAdmitted: () => void },
): Transport {
  let left = helloBytes + PIECE_BYTES * HELLO_PIECES;
  // Runs after the listener of `ws`: a chunk that completes a valid hello is not counted.
  const count = (piece: Buffer) => {
    left -= piece.length + PIECE_BYTES;
    if (left < 0) close(CLOSE.tooBig, "the hello is too large");
  };
  stream.on("data", count);
  const admit = () => {
    stream.off("data", count);
    onAdmitted();
  };

  // Reports such a message to the peer as too large.
  const closeSocket = webSocket.close.bind(webSocket);
  webSocket.close = (code, reason) => closeSocket(code === TOO_MANY_PIECES ? CLOSE.tooBig : code, reason);
  const closeInOrder = transport.close.bind(transport);
  // Discards what the peer still sends, and ends our side, so that the peer ends its own.
  const discard = () => {
    stream.removeAllListeners("readable").removeAllListeners("data");
    stream.resume();
    stream.end();
  };
  const close = (code: number, reason: string) => {
    closeInOrder(code, reason);
    discard();
  };
  // `ws` has sent a close frame, and would wait 30 s for the peer's.
  webSocket.on("error", () => {
    discard();
    const timer = setTimeout(() => webSocket.terminate(), CLOSE_MS).unref();
    webSocket.once("close", () => clearTimeout(timer));
  });

  const limitFrames = (bytes: number) => {
    // `ws` has no public way to raise the limits of an open connection. `ws` is pinned; if the names change, large frames are
    // refused, and spec/wire/untrusted.spec.ts fails.
    const receiver = (webSocket as unknown as { _receiver?: Receiver })._receiver;
    if (!receiver) return;
    const { maxPayload, maxFragments, maxBufferedChunks } = receiverBounds(bytes);
    receiver._maxPayload = maxPayload;
    receiver._maxFragments = maxFragments;
    receiver._maxBufferedChunks = maxBufferedChunks;
  };
  return Object.assign(transport, { admit, limitFrames, close });
}
