// A log pulled by a consumer: the cursor waits for it. With `lossless` the process waits too.
import type { Delivery, DeliveryMode, Seq } from "../../protocol/index.ts";
import { Cursor } from "./cursor.ts";
import type { Hold, LogView } from "./log-view.ts";

/** Deliveries on demand. `renew` tells a lossless reader's lease that the consumer is alive though busy. */
export class DeliveryIterator implements AsyncIterableIterator<Delivery> {
  readonly #view: LogView;
  readonly #cursor: Cursor;
  readonly #hold: Hold | undefined;
  #done = false;
  /** Settles the read that waits; there is at most one, since each follows the one before. */
  #wake: (() => void) | undefined;
  #stop: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(view: LogView, afterSeq: Seq = 0, delivery: DeliveryMode = "gap") {
    this.#view = view;
    this.#cursor = new Cursor(view, afterSeq);
    this.#hold = delivery === "lossless" ? view.hold(() => this.#cursor.afterSeq) : undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Delivery, undefined>> {
    const result = this.#last.then(() => this.#advance());
    this.#last = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorResult<Delivery, undefined>> {
    this.#finish();
    return Promise.resolve({ done: true, value: undefined });
  }

  renew(): void {
    this.#hold?.renew();
  }

  async #advance(): Promise<IteratorResult<Delivery, undefined>> {
    // Before the first look: a replica that nobody follows cannot bring back what it has let go of.
    if (!this.#done) this.#stop ??= this.#view.onAppend(() => this.#wake?.());
    while (!this.#done) {
      const delivery = this.#cursor.next();
      this.#hold?.renew();
      if (delivery !== undefined && delivery !== "loading") {
        if (delivery.type === "closed") this.#finish();
        return { done: false, value: delivery };
      }
      if (this.#view.closed && this.#cursor.afterSeq >= this.#view.headSeq) {
        this.#finish();
        break;
      }
      if (this.#view.failure) {
        this.#finish();
        throw this.#view.failure;
      }
      await this.#appended();
    }
    return { done: true, value: undefined };
  }

  #appended(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #finish(): void {
    this.#done = true;
    this.#stop?.();
    this.#hold?.release();
    this.#wake?.();
  }
}
