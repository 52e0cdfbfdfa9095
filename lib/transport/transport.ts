// A connection that carries frames: all that server and client know of the medium below.

/** Close codes of our own; the range 4000 to 4999 is free for applications (RFC 6455). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  tooBig: 1009,
  tryLater: 1013,
  protocol: 4400,
  unauthorized: 4401,
  originRefused: 4403,
  sessionUnknown: 4404,
  version: 4406,
  timeout: 4408,
  superseded: 4409,
} as const;

/** Longest wait for the peer's part of the closing handshake; then the connection is terminated. */
export const CLOSE_MS = 2000;

/** A close frame has room for 123 bytes of reason (RFC 6455, 5.5); a longer one must be cut, and not inside a character. */
export function closeReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= 123) return reason;
  return new TextDecoder().decode(bytes.subarray(0, 120)).replace(/\uFFFD+$/, "");
}

/** What a transport reports. */
export interface TransportHandlers {
  /** A complete frame. Its bytes may be a view that is valid only during the call. */
  frame(frame: Uint8Array): void;
  /** The end, once; nothing follows. */
  closed(code: number, reason: string): void;
  /** The peer answered `ping(pingId)`: it has received everything that was sent before. */
  pong?(pingId: number): void;
}

/** A connection that carries frames in order, each completely or not at all. */
export interface Transport {
  /** Begins to deliver. */
  listen(handlers: TransportHandlers): void;
  /** Sends a frame. `sent` is called when it has left this program; if the connection ends first, only `closed` is called. */
  send(frame: Uint8Array, sent?: () => void): void;
  /** Asks the peer for a pong, below the frames. Absent if the medium has no pings. */
  ping?(pingId: number): void;
  /** From here on, a frame from the peer may have this many bytes. Absent if both ends are in one program. */
  limitFrames?(bytes: number): void;
  /** The peer is authenticated: its connection no longer counts as waiting. Absent if connections do not wait. */
  admit?(): void;
  /** Delivers no frames until `resume`, so that the peer has to stop sending too. Absent if the medium cannot pause. */
  pause?(): void;
  resume?(): void;
  /** Handles its frames before or after those of all other peers. Absent if no peers compete. */
  rank?(rank: "first" | "last"): void;
  /** Bytes sent that the kernel has not accepted: falls while the peer reads. Absent if unknown. */
  unsentBytes?(): number;
  /** Closes the connection in order: everything sent before is delivered first. */
  close(code: number, reason: string): void;
  /** Closes the connection at once. */
  terminate(): void;
}

/** Opens a connection. Rejects if no server answers. */
export type OpenTransport = () => Promise<Transport>;
