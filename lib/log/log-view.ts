// The reading side of a log. Every reader, local or remote, live or late, has a seq of its own and calls `next`.
import type { Delivery, ExitedEvent, Seq } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";

/** Keeps the events after a position from being evicted, as long as its owner renews it. */
export interface Hold {
  /** To be called when the position moved, and as a keep-alive when it cannot move yet. */
  renew(): void;
  release(): void;
  /** False once released, also because it was not renewed: what follows the position may be evicted. */
  readonly isLive: boolean;
}

/** A log as its readers see it; written by the actor of a local process, or from the messages of a server. */
export interface LogView {
  /** Seq of the oldest event still retained. */
  readonly firstSeq: Seq;
  /** Seq of the newest event; 0 if there is none. */
  readonly headSeq: Seq;
  readonly exited: ExitedEvent | undefined;
  /** True once nothing can follow. */
  readonly closed: boolean;
  /** Why this log will never be closed: the start failed, or the connection is lost for good. Reported after the last event. */
  readonly failure: ExecwireError | undefined;
  /**
   * THE read primitive: the event `afterSeq + 1`; the exact gap if it is lost; `loading` if the source is sending it again and a
   * wake will follow; undefined if it does not exist yet.
   */
  next(afterSeq: Seq): Delivery | "loading" | undefined;
  /** Output bytes printed up to and including `seq`, if still known. */
  offsetAfter(seq: Seq): number | undefined;
  /** Known output bytes up to and including the delivery that covers `seq`; before the oldest delivery, the evicted bytes. */
  bytesUpTo(seq: Seq): number;
  /** Calls `wake` after each append or failure, without data: call `next` for it. Returns a function that unregisters. */
  onAppend(wake: () => void): () => void;
  /**
   * Keeps what follows `position()` until released or no longer renewed: the writer pauses instead of evicting it. With
   * `upToBytes` the writer never pauses: that much is kept, even above the log's own bound, and the oldest beyond it is evicted.
   */
  hold(position: () => Seq, upToBytes?: number): Hold;
  /** A gap was delivered to a reader. Only counters change, not the log. */
  noteGap(): void;
}
