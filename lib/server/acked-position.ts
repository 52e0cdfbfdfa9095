// How far a client has read a process. It outlives a connection: what was sent and lost on the way, or printed while the client
// was away, is still there when it comes back.
import type { Seq } from "../../protocol/index.ts";
import type { Hold, LogView } from "../log/log-view.ts";

/** An acknowledged position that keeps what follows it. */
export class AckedPosition {
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

  /** Output bytes between it and `seq` that the client may still read; 0 once it is no longer live. */
  bytesUpTo(seq: Seq): number {
    if (!this.#hold.isLive) return 0;
    const sent = this.#log.offsetAfter(seq);
    // The client cannot read what was evicted, and reads a restarted log from its beginning.
    const evictedSeq = this.#log.firstSeq - 1;
    const read = this.#log.offsetAfter(Math.max(this.#acked, evictedSeq)) ?? this.#log.offsetAfter(evictedSeq);
    return sent === undefined || read === undefined ? 0 : sent - read;
  }

  release(): void {
    this.#hold.release();
  }
}
