// The pings of a connection. A pong shows that the peer is alive, and, since the dialect has no acknowledgement, that everything
// sent before its ping has arrived: the log need not keep those events for a client that may have to reconnect.
import type { Seq } from "../../../protocol/index.ts";
import type { Cancel, Clock } from "../../clock.ts";

/** Bytes pushed between pings: often enough to keep little, rarely enough to cost nothing. */
const PING_EVERY_BYTES = 256 * 1024;
/** Limit on unanswered pings. A client that exceeds it answers no pings at all, and is assumed to read what it is sent. */
const MAX_PENDING = 64;
/** When another connection asks for the session, its current connection is dead if nothing arrives from it for this long. */
const PROBE_MS = 3000;

/** A source of events. `received` reports the seq up to which the client has received them. */
export interface AckedSource {
  readonly sentSeq: Seq;
  received(seq: Seq): void;
}

/** Callbacks and timing of a heartbeat. */
export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  readonly ping: (pingId: number) => void;
  /** Called at every interval while the connection lasts. */
  readonly onBeat: () => void;
  /** Called when a probe stays unanswered. */
  readonly onDead: () => void;
}

/** Pings one connection. A client that answers no pings stays connected as long as no other connection asks for its session. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** Sources that have pushed since the last ping. */
  readonly #sources = new Set<AckedSource>();
  #bytes = 0;
  /** Unanswered pings, oldest first, with the sources that had pushed before each and how far. */
  readonly #pending = new Map<number, readonly (readonly [AckedSource, Seq])[]>();
  #lastPingId = 0;
  #beat: Cancel;
  #probeTimer: Cancel | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#beat = this.#arm();
  }

  /** A frame of `source` was pushed. */
  onPushed(source: AckedSource, bytes: number): void {
    this.#sources.add(source);
    this.#bytes += bytes;
    if (this.#bytes >= PING_EVERY_BYTES) this.#ping();
  }

  /** A frame or a pong arrived. */
  onFrame(): void {
    this.#probeTimer?.();
    this.#probeTimer = undefined;
  }

  /** A pong answers its ping and all earlier ones. */
  onPong(pingId: number): void {
    this.onFrame();
    for (const id of this.#pending.keys()) if (id <= pingId) this.#settle(id);
  }

  /** Pings now and returns the id of the ping. */
  ping(): number {
    this.#ping();
    return this.#lastPingId;
  }

  /** Another connection asks for the session: the peer must send something within the probe time. */
  probe(): void {
    if (this.#probeTimer) return;
    this.#probeTimer = this.#options.clock.after(PROBE_MS, this.#options.onDead);
    this.#ping();
  }

  end(): void {
    this.#beat();
    this.onFrame();
  }

  #arm(): Cancel {
    const { clock, pingMs, onBeat } = this.#options;
    const beat = () => {
      this.#ping();
      onBeat();
      this.#beat = this.#arm();
    };
    return clock.after(pingMs, beat, { background: true });
  }

  #ping(): void {
    this.#lastPingId += 1;
    const positions = [...this.#sources].map((source): [AckedSource, Seq] => [source, source.sentSeq]);
    this.#pending.set(this.#lastPingId, positions);
    this.#sources.clear();
    this.#bytes = 0;
    this.#options.ping(this.#lastPingId);
    if (this.#pending.size > MAX_PENDING) this.#settle(this.#lastPingId - MAX_PENDING);
  }

  #settle(pingId: number): void {
    for (const [source, seq] of this.#pending.get(pingId) ?? []) source.received(seq);
    this.#pending.delete(pingId);
  }
}
