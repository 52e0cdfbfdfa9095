// Reads a log on demand: the cursor waits for the consumer. With `lossless` the process waits too.
import type { Delivery, DeliveryMode, Seq } from "../../protocol/index.ts";
import { Mutex } from "../mutex.ts";
import { Cursor } from "./cursor.ts";
import type { Hold, LogView } from "./log-view.ts";
import { Reader } from "./reader.ts";

/** What a call of `next` resolves with. */
type Result = IteratorResult<Delivery, undefined>;

const DONE: Result = { done: true, value: undefined };

/** Deliveries on demand. A consumer that is busy for long calls `renew` to keep the lease of its lossless hold. */
export class DeliveryIterator implements AsyncIterableIterator<Delivery> {
  readonly #reader: Reader;
  readonly #hold: Hold | undefined;
  #done = false;
  /** The call that waits for a delivery; at most one, since calls run one after another. */
  #waiting: { resolve(result: Result): void; reject(error: unknown): void } | undefined;
  /** Calls of `next` that were not awaited are answered in their order. */
  readonly #calls = new Mutex();

  constructor(view: LogView, afterSeq: Seq = 0, delivery: DeliveryMode = "gap") {
    const cursor = new Cursor(view, afterSeq);
    this.#reader = new Reader(cursor, {
      hasRoom: () => this.#waiting !== undefined,
      take: (value) => {
        this.#settle({ done: false, value });
        this.renew();
      },
      end: (failure) => this.#finish(failure),
    });
    this.#hold = delivery === "lossless" ? view.hold(() => cursor.afterSeq) : undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Delivery, undefined>> {
    return this.#calls.run(() => this.#pull());
  }

  return(): Promise<IteratorResult<Delivery, undefined>> {
    this.#finish();
    return Promise.resolve(DONE);
  }

  renew(): void {
    this.#hold?.renew();
  }

  #pull(): Promise<Result> {
    if (this.#done) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#reader.start();
      // Here and with each delivery, but not with each append: only a consumer that reads keeps its lease.
      if (this.#waiting) this.renew();
    });
  }

  #settle(result: Result): void {
    this.#waiting?.resolve(result);
    this.#waiting = undefined;
  }

  #finish(failure?: Error): void {
    this.#done = true;
    this.#reader.stop();
    this.#hold?.release();
    if (failure) this.#waiting?.reject(failure);
    this.#settle(DONE);
  }
}
