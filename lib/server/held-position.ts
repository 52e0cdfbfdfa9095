// How far a lossless client has read a process. It belongs to the session and not to the connection: what was sent and lost
// on the way, or printed while the client was away, is still there when it comes back.
import type { Seq } from "../../protocol/index.ts";
import type { Hold, LogView } from "../log/log-view.ts";

/** An acknowledged position that keeps what follows it. */
export class HeldPosition {
  readonly #log: LogView;
  readonly #hold: Hold;
  #acked: Seq;
  /** Output bytes up to it, or up to what the log still had. */
  #offset: number | undefined;

  constructor(log: LogView, acked: Seq) {
    this.#log = log;
    this.#acked = acked;
    this.#hold = log.hold(() => this.#acked);
    this.moveTo(acked);
  }

  /** False once the client was taken for gone. */
  get isLive(): boolean {
    return this.#hold.isLive;
  }

  /** The client has read up to `acked` of what it will get: less than before when it begins anew for a reader that came later. */
  moveTo(acked: Seq): void {
    this.#acked = acked;
    // What was let go of it does not read.
    this.#offset = this.#log.offsetAfter(acked) ?? this.#log.offsetAfter(this.#log.firstSeq - 1);
    this.#hold.renew();
  }

  /** The client has taken everything up to `seq`; said again, it is a sign of life. */
  ack(seq: Seq): void {
    if (seq > this.#acked) this.moveTo(seq);
    else this.#hold.renew();
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
