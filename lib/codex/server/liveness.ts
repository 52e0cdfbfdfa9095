// The heartbeat of a connection. Pongs show that the peer is alive, and how much it has received.
import type { Cancel, Clock } from "../../clock.ts";
import { type AckedSource, PingAcks } from "./receipts.ts";

/** When another connection asks for the session, its current connection is dead if nothing arrives from it for this long. */
const PROBE_MS = 3000;

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
  readonly #acks: PingAcks;
  #beat: Cancel;
  #probeTimer: Cancel | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#acks = new PingAcks(options.ping);
    this.#beat = this.#arm();
  }

  /** A frame of `source` was pushed. */
  onPushed(source: AckedSource, bytes: number): void {
    this.#acks.onPushed(source, bytes);
  }

  /** A frame or a pong arrived. */
  onFrame(): void {
    this.#probeTimer?.();
    this.#probeTimer = undefined;
  }

  /** A pong arrived. */
  onPong(pingId: number): void {
    this.onFrame();
    this.#acks.onPong(pingId);
  }

  /** Another connection asks for the session: the peer must send something within the probe time. */
  probe(): void {
    if (this.#probeTimer) return;
    this.#probeTimer = this.#options.clock.after(PROBE_MS, this.#options.onDead);
    this.#acks.ping();
  }

  end(): void {
    this.#beat();
    this.onFrame();
  }

  #arm(): Cancel {
    const { clock, pingMs, onBeat } = this.#options;
    const beat = () => {
      this.#acks.ping();
      onBeat();
      this.#beat = this.#arm();
    };
    return clock.after(pingMs, beat, { background: true });
  }
}
