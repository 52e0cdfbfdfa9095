// One viewer of one process: a cursor that moves while the connection has room. A viewer that cannot keep up costs this
// number and its socket's buffer.
import { type DeliveryMode, encode, type Seq } from "../../protocol/index.ts";
import { toWireError } from "../errors.ts";
import { Cursor } from "../log/cursor.ts";
import type { Hold, LogView } from "../log/log-view.ts";
import type { Channel } from "./channel.ts";
import type { Outbox } from "./outbox.ts";

/** How a subscription delivers. */
export interface SubscriptionOptions {
  readonly afterSeq: Seq;
  readonly delivery: DeliveryMode;
  readonly windowBytes: number;
}

/** Sends the events of a channel to one connection. */
export class Subscription {
  readonly #channel: Channel;
  readonly #outbox: Outbox;
  readonly #cursor: Cursor;
  readonly #windowBytes: number;
  readonly #hold: Hold | undefined;
  #stop: (() => void) | undefined;
  #acked: Seq;
  /** Output bytes sent and not acknowledged, as far as the log still knows where the acknowledged ones ended. */
  #ackedOffset: number | undefined;
  #exitIsTold = false;
  #over = false;

  constructor(channel: Channel, outbox: Outbox, { afterSeq, delivery, windowBytes }: SubscriptionOptions) {
    const { log } = channel.process;
    this.#channel = channel;
    this.#outbox = outbox;
    this.#cursor = new Cursor(log, afterSeq);
    this.#windowBytes = windowBytes;
    this.#acked = afterSeq;
    this.#ackedOffset = log.offsetAfter(afterSeq);
    // Held from the acknowledgement on: what was sent and lost on the way can be sent again.
    this.#hold = delivery === "lossless" ? log.hold(() => this.#acked) : undefined;
  }

  /** Begins to send; from here on each append is a wake-up. */
  start(): void {
    if (this.#over) return;
    this.#stop = this.#channel.process.log.onAppend(() => this.pump());
    this.pump();
  }

  /** Sends what there is and there is room for. */
  pump(): void {
    const { log } = this.#channel.process;
    this.#sendEvents(log);
    const { exited } = log;
    // A viewer that has not read what came before waits for the exit no longer than anybody else.
    if (!exited || this.#over || this.#exitIsTold || this.#cursor.afterSeq >= exited.seq) return;
    this.#exitIsTold = true;
    this.#outbox.send(encode({ type: "exit", channel: this.#channel.id, event: exited }));
  }

  #sendEvents(log: LogView): void {
    while (!this.#over && this.#outbox.hasRoom && this.#windowIsOpen()) {
      const delivery = this.#cursor.next();
      if (delivery === undefined || delivery === "loading") {
        if (delivery === undefined && log.failure) this.#fail();
        return;
      }
      if (delivery.type === "gap") {
        this.#outbox.send(encode({ type: "gap", channel: this.#channel.id, gap: delivery }));
        continue;
      }
      this.#outbox.send(this.#channel.frameOf(delivery));
      if (delivery.type === "closed") this.end();
    }
  }

  /** The viewer has taken everything up to `seq`. */
  ack(seq: Seq): void {
    if (seq <= this.#acked || seq > this.#cursor.afterSeq) return;
    this.#acked = seq;
    this.#ackedOffset = this.#channel.process.log.offsetAfter(seq);
    this.renew();
    this.pump();
  }

  /** The connection is alive, so is its viewer. */
  renew(): void {
    this.#hold?.renew();
  }

  /** Sends nothing any more. */
  end(): void {
    this.#over = true;
    this.#stop?.();
    this.#hold?.release();
  }

  #windowIsOpen(): boolean {
    if (!this.#hold || this.#ackedOffset === undefined) return true;
    const sent = this.#channel.process.log.offsetAfter(this.#cursor.afterSeq);
    return sent === undefined || sent - this.#ackedOffset < this.#windowBytes;
  }

  #fail(): void {
    const error = toWireError(this.#channel.process.log.failure);
    this.#outbox.send(encode({ type: "failed", channel: this.#channel.id, error }));
    this.end();
  }
}
