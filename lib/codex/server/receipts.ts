// What a client has received. The dialect has no acknowledgement, but the pong that answers a ping shows that everything sent
// before the ping has arrived. Events up to that position need not be kept for a client that may have to reconnect.
import type { Seq } from "../../../protocol/index.ts";

/** Bytes pushed between pings: often enough to keep little, rarely enough to cost nothing. */
const PING_EVERY_BYTES = 256 * 1024;
/** Limit on unanswered pings. A client that exceeds it answers no pings at all, and is assumed to read what it is sent. */
const MAX_PENDING = 64;

/** A source of events. `received` reports up to which seq the client has received them. */
export interface AckedSource {
  readonly sentSeq: Seq;
  received(seq: Seq): void;
}

interface PendingPing {
  readonly pingId: number;
  readonly positions: readonly (readonly [AckedSource, Seq])[];
}

/** Turns pongs into acknowledged positions. */
export class PingAcks {
  readonly #sendPing: (pingId: number) => void;
  readonly #sources = new Set<AckedSource>();
  readonly #pending: PendingPing[] = [];
  #bytes = 0;
  #lastPingId = 0;

  constructor(sendPing: (pingId: number) => void) {
    this.#sendPing = sendPing;
  }

  /** A frame of `source` was pushed. */
  onPushed(source: AckedSource, bytes: number): void {
    this.#sources.add(source);
    this.#bytes += bytes;
    if (this.#bytes >= PING_EVERY_BYTES) this.ping();
  }

  /** Sends a ping now. */
  ping(): void {
    this.#lastPingId += 1;
    this.#pending.push({
      pingId: this.#lastPingId,
      positions: [...this.#sources].map((source) => [source, source.sentSeq] as const),
    });
    this.#sources.clear();
    this.#bytes = 0;
    this.#sendPing(this.#lastPingId);
    if (this.#pending.length > MAX_PENDING) this.#settle(this.#pending.shift() as PendingPing);
  }

  /** A pong answers its ping and all earlier ones. */
  onPong(pingId: number): void {
    while (this.#pending[0] && this.#pending[0].pingId <= pingId) this.#settle(this.#pending.shift() as PendingPing);
  }

  #settle({ positions }: PendingPing): void {
    for (const [source, seq] of positions) source.received(seq);
  }
}
