// A reader's place in a log: one number, and the count of bytes that makes its gaps exact.
import type { Delivery, Seq } from "../../protocol/index.ts";
import type { LogView } from "./log-view.ts";

/** Takes what a cursor gives. */
export interface Taker {
  /** Asked before each delivery. */
  hasRoom(): boolean;
  take(delivery: Delivery): void;
}

/** A position that advances. Each call of `next` gives what follows, without hole and without duplicate. */
export class Cursor {
  readonly view: LogView;
  #afterSeq: Seq;
  /** Output bytes up to the position; undefined while the view has not told, at a place already evicted or not yet there. */
  #offset: number | undefined;

  constructor(view: LogView, afterSeq: Seq = 0) {
    this.view = view;
    this.#afterSeq = afterSeq;
    this.#offset = view.offsetAfter(afterSeq);
  }

  /** The seq of the last delivery. */
  get afterSeq(): Seq {
    return this.#afterSeq;
  }

  /** Output bytes up to the position, where known. */
  get offset(): number | undefined {
    return this.#offset;
  }

  /** Another cursor at the same place. */
  fork(): Cursor {
    const copy = new Cursor(this.view, this.#afterSeq);
    copy.#offset = this.#offset;
    return copy;
  }

  /** The next delivery; undefined or `loading` when a wake must be awaited. */
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
    if (before === undefined || this.#offset === undefined) return delivery;
    return Object.freeze({ ...delivery, bytes: this.#offset - before });
  }

  /** Passes on what there is, while there is room. Says why it stopped. */
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
