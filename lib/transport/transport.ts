// Frames over something: the one thing that server and client know of a connection.

/** Close codes of our own; the range 4000 to 4999 is free for applications (RFC 6455). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  tooBig: 1009,
  tryLater: 1013,
  protocol: 4400,
  unauthorized: 4401,
  sessionUnknown: 4404,
  version: 4406,
  timeout: 4408,
  superseded: 4409,
} as const;

/** A peer that does not take part in the closing is not waited for any longer. */
export const CLOSE_MS = 2000;

/** A close frame has room for 123 bytes of reason (RFC 6455, 5.5); a longer one must be cut, and not inside a character. */
export function closeReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= 123) return reason;
  return new TextDecoder().decode(bytes.subarray(0, 120)).replace(/\uFFFD+$/, "");
}

/** What a transport tells. */
export interface TransportHandlers {
  /** A whole frame. Its bytes may be a view that is good only during the call, unless copied. */
  frame(frame: Uint8Array): void;
  /** The end, once; nothing follows. */
  closed(code: number, reason: string): void;
  /** The peer answered `ping(sign)`: it has received everything that was sent before. */
  pong?(sign: number): void;
}

/** A connection that carries frames in order, each whole or not at all. */
export interface Transport {
  /** Begins to deliver. */
  listen(handlers: TransportHandlers): void;
  /** Sends a frame; `sent` is called when it has left this program, and not when it never will: then `closed` says so. */
  send(frame: Uint8Array, sent?: () => void): void;
  /** Asks the peer for a sign of life, below the frames. Absent where the medium knows no such thing. */
  ping?(sign: number): void;
  /** A frame from the peer may have this many bytes from here on. Absent where nobody else is at the other end. */
  limitFrames?(bytes: number): void;
  /** The peer has shown who it is: the connection is no longer one of those that wait to. Absent where none do. */
  admit?(): void;
  /** Delivers no frames until `resume`; the peer's sending stops in its turn. Absent where nothing can be held back. */
  pause?(): void;
  resume?(): void;
  /** Its frames are handled before those of all others, or after them. Absent where no peers compete. */
  rank?(rank: "first" | "last"): void;
  /** Bytes handed over that the kernel has not taken: it falls while the peer reads. Absent where it is not known. */
  unsentBytes?(): number;
  /** Ends the connection in order: what was sent before is delivered first. */
  close(code: number, reason: string): void;
  /** Ends it at once. */
  terminate(): void;
}

/** Opens a connection. Rejects when there is nobody. */
export type OpenTransport = () => Promise<Transport>;
