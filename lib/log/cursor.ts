// A reader's position in a log: a seq, and the output bytes up to it, which make its gaps exact.
import type { Delivery, Seq } from "../../protocol/index.ts";
import type { LogView } from "./log-view.ts";

/** Receives the deliveries of a cursor. */
export interface Taker {
  /** Asked before each delivery. */
  hasRoom(): boolean;
  take(delivery: Delivery): void;
}

/** A position that advances: each call of `next` returns the following delivery, without holes and without duplicates. */
export class Cursor {
  readonly view: LogView;
  #afterSeq: Seq;
  /** Output bytes up to the position; undefined while the view does not know them: evicted already, or not there yet. */
  #offset: number | undefined;

  constructor(view: LogView, afterSeq: Seq = 0) {
    this.view = view;
    this.#afterSeq = afterSeq;
    this.#offset = view.offsetAfter(afterSeq);
  }

  /** The last seq of the last delivery. */
  get afterSeq(): Seq {
    return this.#afterSeq;
  }

  /** Output bytes up to the position, if known. */
  get offset(): number | undefined {
    return this.#offset;
  }

  /** Another cursor at the same position. */
  fork(): Cursor {
    const copy = new Cursor(this.view, this.#afterSeq);
    copy.#offset = this.#offset;
    return copy;
  }

  /** The next delivery; undefined or `loading` if the caller must wait for an append. */
  next(): Delivery | "loading" | undefined {
    const delivery = this.view.next(this.#afterSeq);
    if (delivery === undefined || delivery === "loading") return delivery;
    if (delivery.type !== "gap") {
      this.#afterSeq = delivery.seq;
      if (this.#offset === undefined) this.#offset = this.view.offsetAfter(delivery.seq);
      else if (delivery.type === "output") this.#offset += delivery.chunk.length;
      return delivery;
    }
    this.view.noteGap();
    const before = this.#offset;
    this.#afterSeq = delivery.lastSeq;
    this.#offset = this.view.offsetAfter(delivery.lastSeq);
    if (this.#offset === undefined) return delivery;
    const size = before === undefined ? { endOffset: this.#offset } : { bytes: this.#offset - before };
    return Object.freeze({ ...delivery, ...size });
  }

  /** Passes deliveries to `taker` while it has room. Returns why it stopped. */
  drain(taker: Taker): "full" | "empty" | "loading" {
    while (taker.hasRoom()) {
      const delivery = this.next();
      if (delivery === undefined) return "empty";
      if (delivery === "loading") return "loading";
      taker.take(delivery);
    }
    return "full";
  }
}
