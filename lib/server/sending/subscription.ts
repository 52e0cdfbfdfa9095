// A subscription of one connection to one process, in any protocol: a cursor that advances while the connection has room. A
// slow reader costs this position and the memory of its connection's outbox.
import type { Delivery, Seq } from "../../../protocol/index.ts";
import type { ExecwireError } from "../../errors.ts";
import { Cursor } from "../../log/cursor.ts";
import type { LogView } from "../../log/log-view.ts";
import { Reader } from "../../log/reader.ts";
import type { AckedPosition } from "../sessions/acked-position.ts";

/** Encodes for one protocol, and sends to one connection. */
export interface Receiver {
  hasRoom(): boolean;
  send(delivery: Delivery): void;
  /** Everything that there was room for has been sent, up to `sentSeq`; more may follow. */
  afterRun(sentSeq: Seq): void;
  /** The subscription failed; no events follow. */
  failed(error: ExecwireError): void;
  /** The subscription has ended. Also called after `closed` was sent, and after `failed`. */
  ended(): void;
}

/** Where a subscription starts, and how far it may run ahead of a lossless client. */
export interface SubscriptionOptions {
  readonly afterSeq: Seq;
  /** The acknowledged position of a lossless client. */
  readonly position?: AckedPosition | undefined;
  /** Output bytes that may be sent beyond the position. Default: unlimited. */
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

  /** The seq of the last sent delivery. */
  get sentSeq(): Seq {
    return this.#reader.cursor.afterSeq;
  }

  /** Whether its log has ended and a lossless client has not been sent all of it. */
  get owesOutput(): boolean {
    return !this.#isOver && this.#position !== undefined && this.#reader.cursor.view.closed;
  }

  /** Starts sending; from now on each append continues it. */
  start(): void {
    if (!this.#isOver) this.#reader.start();
  }

  /** Sends as many events as there is room for. */
  pump(): void {
    this.#reader.run();
  }

  /** The client has received everything up to `seq`. */
  ack(seq: Seq): void {
    if (seq > this.sentSeq) return;
    this.#position?.ack(seq);
    this.pump();
  }

  /** Stops sending. The position stays held. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.stop();
    this.#receiver.ended();
  }
}
