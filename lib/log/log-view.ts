// The reading side of a log. Whoever reads, near or far, live or late, holds a number and calls `next`.
import type { Delivery, ExitedEvent, Seq } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";

/** A position that keeps what follows it from being evicted, as long as its owner shows signs of life. */
export interface Hold {
  /** Says that the position moved, or that the owner is alive though it cannot move yet. */
  renew(): void;
  release(): void;
  /** False once released, or taken for gone: what follows the position may be evicted. */
  readonly isLive: boolean;
}

/** A log as its readers see it; written by an actor (local) or from what a server sends (remote). */
export interface LogView {
  /** The oldest event still retained. */
  readonly firstSeq: Seq;
  /** The newest event; 0 when there is none. */
  readonly headSeq: Seq;
  readonly exited: ExitedEvent | undefined;
  /** True once nothing can follow. */
  readonly closed: boolean;
  /** Why this log will never be closed: the start failed, or the link gave up. Readers get it after the last event. */
  readonly failure: ExecwireError | undefined;
  /**
   * THE read primitive: the event `afterSeq + 1`; the exact gap, where it is lost; `loading`, where it exists elsewhere
   * and a wake will follow; undefined, where there is nothing yet.
   */
  next(afterSeq: Seq): Delivery | "loading" | undefined;
  /** Output bytes printed up to and including `seq`, where still known. */
  offsetAfter(seq: Seq): number | undefined;
  /** Calls `wake` after each append or failure. It carries no data: ask `next`. Returns the way to stop. */
  onAppend(wake: () => void): () => void;
  /**
   * Keeps what follows `position()` until released or taken for gone; the writer pauses instead of evicting it. With
   * `upToBytes` it never pauses: that much is kept, even above the log's own bound, and beyond it the oldest goes.
   */
  hold(position: () => Seq, upToBytes?: number): Hold;
  /** A reader was told of a loss. For who counts them; the log itself does not change. */
  noteGap(): void;
}
