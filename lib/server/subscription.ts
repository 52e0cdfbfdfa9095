// One reader of one process at the end of a connection, in any protocol: a cursor that moves while the connection has room. A
// reader that cannot keep up costs this number and the memory of its connection's outbox.
import type { Delivery, Seq } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";
import { Cursor } from "../log/cursor.ts";
import type { LogView } from "../log/log-view.ts";
import { Reader } from "../log/reader.ts";
import type { AckedPosition } from "./acked-position.ts";

/** Encodes for one protocol, and sends to one connection. */
export interface Receiver {
  hasRoom(): boolean;
  send(delivery: Delivery): void;
  /** All that there is room for was sent, up to `sentSeq`; more may follow. */
  afterRun(sentSeq: Seq): void;
  /** Nothing follows, for this reason. */
  failed(error: ExecwireError): void;
  /** Nothing follows: also called after `closed` was sent, and after `failed`. */
  ended(): void;
}

/** Where to begin, and how far to run ahead of a lossless client. */
export interface SubscriptionOptions {
  readonly afterSeq: Seq;
  /** What such a client has acknowledged. */
  readonly position?: AckedPosition | undefined;
  /** Output bytes that may be sent beyond the position. Default: any number. */
  readonly windowBytes?: number;
}

/** Sends the events of a log to a receiver. */
export class Subscription {
  readonly #reader: Reader;
  readonly #receiver: Receiver;
  readonly #position: AckedPosition | undefined;
  #isOver = false;

  constructor(log: LogView, receiver: Receiver, { afterSeq, position, windowBytes = Infinity }: SubscriptionOptions) {
    this.#receiver = receiver;
    this.#position = position;
    this.#reader = new Reader(new Cursor(log, afterSeq), {
      hasRoom: () => !this.#isOver && receiver.hasRoom() && (position?.bytesUpTo(this.sentSeq) ?? 0) < windowBytes,
      take: (delivery) => receiver.send(delivery),
      afterRun: () => receiver.afterRun(this.sentSeq),
      end: (failure) => {
        if (failure) receiver.failed(failure);
        this.end();
      },
    });
  }

  /** The last delivery that was sent. */
  get sentSeq(): Seq {
    return this.#reader.cursor.afterSeq;
  }

  /** Begins to send; from here on each append is a wake-up. */
  start(): void {
    if (!this.#isOver) this.#reader.start();
  }

  /** Sends what there is and there is room for. */
  pump(): void {
    this.#reader.run();
  }

  /** The client has received everything up to `seq`. */
  ack(seq: Seq): void {
    if (seq > this.sentSeq) return;
    this.#position?.ack(seq);
    this.pump();
  }

  /** Sends nothing more. The position stays held. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.stop();
    this.#receiver.ended();
  }
}
