// What a peer at the other end of a WebSocket may make this program hold: next to nothing until it has shown who it is,
// then one frame of the size that its role needs, and nothing at all once it was sent away. Node only.
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { CLOSE, CLOSE_MS, type Transport } from "./transport.ts";

/** A piece that arrived costs this beside its bytes: two objects and an allocation. */
const PIECE_BYTES = 256;
/** A hello of full size may arrive in pieces as small as 1 KiB. */
const HELLO_PIECES = 64;

/** Pieces of small frames, and what `ws` allows at most by itself: each is an object that waits for the others. */
const FEW_PIECES = 256;
const MOST_FRAGMENTS = 16 * 1024;
const MOST_CHUNKS = 256 * 1024;

/** With which `ws` closes for a message in too many pieces. */
const TOO_MANY_PIECES = 1008;

/** Bounds of what one connection may hold, as `ws` takes them. */
export interface ReceiverBounds {
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly maxBufferedChunks: number;
}

/** The bounds on frames of that size. */
export function receiverBounds(frameBytes: number): ReceiverBounds {
  const pieces = Math.max(FEW_PIECES, Math.floor(frameBytes / FEW_PIECES));
  return {
    maxPayload: frameBytes,
    maxFragments: Math.min(pieces, MOST_FRAGMENTS),
    maxBufferedChunks: Math.min(pieces, MOST_CHUNKS),
  };
}

/** The same bounds of one connection as `ws` keeps them. */
interface Receiver {
  _maxPayload: number;
  _maxFragments: number;
  _maxBufferedChunks: number;
}

/**
 * Bounds what the peer of a fresh WebSocket may send until `admit` is called, which calls `onAdmitted`. The socket must have
 * been made with `receiverBounds(helloBytes)`.
 */
export function boundPeer(
  transport: Transport,
  webSocket: WebSocket,
  stream: Socket,
  { helloBytes, onAdmitted }: { readonly helloBytes: number; readonly onAdmitted: () => void },
): Transport {
  let left = helloBytes + PIECE_BYTES * HELLO_PIECES;
  // Behind the listener of `ws`: a piece that completes a good hello costs nothing any more.
  const count = (piece: Buffer) => {
    left -= piece.length + PIECE_BYTES;
    if (left < 0) close(CLOSE.tooBig, "a hello is smaller");
  };
  stream.on("data", count);
  const admit = () => {
    stream.off("data", count);
    onAdmitted();
  };

  // To the peer such a message is too large, like any other.
  const closeSocket = webSocket.close.bind(webSocket);
  webSocket.close = (code, reason) => closeSocket(code === TOO_MANY_PIECES ? CLOSE.tooBig : code, reason);
  const closeInOrder = transport.close.bind(transport);
  // What the peer still sends nobody will read; it is not kept, and the end of our side tells the peer to end its own.
  const discard = () => {
    stream.removeAllListeners("readable").removeAllListeners("data");
    stream.resume();
    stream.end();
  };
  const close = (code: number, reason: string) => {
    closeInOrder(code, reason);
    discard();
  };
  // `ws` has said goodbye by itself, and would wait half a minute for an answer.
  webSocket.on("error", () => {
    discard();
    const timer = setTimeout(() => webSocket.terminate(), CLOSE_MS).unref();
    webSocket.once("close", () => clearTimeout(timer));
  });

  const limitFrames = (bytes: number) => {
    // There is no other way to raise the bounds of an open connection. `ws` is pinned; should the names change, large frames
    // are refused, which spec/wire/untrusted.spec.ts notices.
    const receiver = (webSocket as unknown as { _receiver?: Receiver })._receiver;
    if (!receiver) return;
    const { maxPayload, maxFragments, maxBufferedChunks } = receiverBounds(bytes);
    receiver._maxPayload = maxPayload;
    receiver._maxFragments = maxFragments;
    receiver._maxBufferedChunks = maxBufferedChunks;
  };
  return Object.assign(transport, { admit, limitFrames, close });
}
