// How far a lossless client has read a process. It belongs to the session and not to the connection: what was sent and lost
// on the way, or printed while the client was away, is still there when it comes back.
import type { Seq } from "../../protocol/index.ts";
import type { Hold, LogView } from "../log/log-view.ts";

/** An acknowledged position that keeps what follows it. */
export class HeldPosition {
  readonly #log: LogView;
  readonly #hold: Hold;
  #acked: Seq;
  /** Output bytes up to it, as far as the log still knows. */
  #offset: number | undefined;

  constructor(log: LogView, acked: Seq) {
    this.#log = log;
    this.#acked = acked;
    this.#offset = log.offsetAfter(acked);
    this.#hold = log.hold(() => this.#acked);
  }

  /** The client has taken everything up to `seq`; said again, it is a sign of life. */
  ack(seq: Seq): void {
    if (seq > this.#acked) {
      this.#acked = seq;
      this.#offset = this.#log.offsetAfter(seq);
    }
    this.#hold.renew();
  }

  /** Output bytes between it and `seq` that the client may still read; 0 once it was taken for gone. */
  bytesUpTo(seq: Seq): number {
    if (!this.#hold.isLive) return 0;
    const sent = this.#log.offsetAfter(seq);
    return sent === undefined || this.#offset === undefined ? 0 : sent - this.#offset;
  }

  release(): void {
    this.#hold.release();
  }
}
