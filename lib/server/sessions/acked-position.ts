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

  /** Output bytes between it and `seq`, as the client counts them: with those of its gaps. 0 once it is no longer live. */
  bytesUpTo(seq: Seq): number {
    if (!this.#hold.isLive) return 0;
    const sent = this.#log.offsetAfter(seq);
    // Unknown where the log was restarted since, or had evicted it before the client came.
    const read = this.#log.offsetAfter(this.#acked) ?? this.#log.offsetAfter(this.#log.firstSeq - 1);
    return sent === undefined || read === undefined ? 0 : sent - read;
  }

  release(): void {
    this.#hold.release();
  }
}
