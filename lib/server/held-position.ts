// How far a client has read a process. It outlives a connection: what was sent and lost on the way, or printed while the client
// was away, is still there when it comes back.
import type { Seq } from "../../protocol/index.ts";
import type { Hold, LogView } from "../log/log-view.ts";

/** An acknowledged position that keeps what follows it. */
export class HeldPosition {
  readonly #log: LogView;
  readonly #hold: Hold;
  #acked: Seq;

  /** With `upToBytes` it never pauses the process, and keeps no more than that. */
  constructor(log: LogView, acked: Seq, upToBytes?: number) {
    this.#log = log;
    this.#acked = acked;
    this.#hold = log.hold(() => this.#acked, upToBytes);
    this.#hold.renew();
  }

  get acked(): Seq {
    return this.#acked;
  }

  /** False once it was released, or not renewed for too long. */
  get isLive(): boolean {
    return this.#hold.isLive;
  }

  /** The client has read up to `acked`. That is less than before when it starts over for a reader that came later. */
  moveTo(acked: Seq): void {
    this.#acked = acked;
    this.#hold.renew();
  }

  /** The client has received everything up to `seq`. Repeated, it proves that the client is alive. */
  ack(seq: Seq): void {
    if (seq > this.#acked) this.moveTo(seq);
    else this.#hold.renew();
  }

  /**
   * Output bytes between it and `seq`, never fewer than the client counts: with fewer, it would be sent more than its window and
   * would consider its hold dropped. 0 once it is no longer live.
   */
  bytesUpTo(seq: Seq): number {
    if (!this.#hold.isLive || seq <= this.#acked) return 0;
    // The client may have received any part of what was evicted before it was held: its next `ack` shows how much it has read.
    if (this.#acked < this.#log.firstSeq - 1) return Number.POSITIVE_INFINITY;
    return this.#log.bytesUpTo(seq) - this.#log.bytesUpTo(this.#acked);
  }

  release(): void {
    this.#hold.release();
  }
}
