// How far a client has read the log of a process. It survives the connection: events that were lost in transit, or appended
// while the client was disconnected, are still in the log when it reconnects.
import type { Seq } from "../../../protocol/index.ts";
import type { Hold, LogView } from "../../log/log-view.ts";

/** An acknowledged position; the events after it stay in the log. */
export class AckedPosition {
  readonly #log: LogView;
  readonly #hold: Hold;
  #acked: Seq;

  /** With `upToBytes` it never pauses the process, and keeps at most that many bytes. */
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

  /** Sets the position to `acked`. It moves backwards when the client subscribes again for a reader that starts earlier. */
  moveTo(acked: Seq): void {
    this.#acked = acked;
    this.#hold.renew();
  }

  /** The client has received everything up to `seq`. A repeated value shows that the client is alive. */
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
