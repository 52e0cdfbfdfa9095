// One viewer of one process: a cursor that moves while the connection has room. A viewer that cannot keep up costs this
// number and its socket's buffer.
import { type Delivery, encode, type Seq } from "../../protocol/index.ts";
import { type ExecwireError, toWireError } from "../errors.ts";
import { Cursor } from "../log/cursor.ts";
import { Reader } from "../log/reader.ts";
import type { Channel } from "./channel.ts";
import type { HeldPosition } from "./held-position.ts";
import type { Outbox } from "./outbox.ts";

/** Sends the events of a channel to one connection. */
export class Subscription {
  readonly #channel: Channel;
  readonly #outbox: Outbox;
  readonly #reader: Reader;
  readonly #windowBytes: number;
  /** Of a lossless subscription. */
  readonly #position: HeldPosition | undefined;
  #exitIsTold = false;
  #over = false;

  constructor(
    channel: Channel,
    outbox: Outbox,
    afterSeq: Seq,
    options: { readonly windowBytes: number; readonly position: HeldPosition | undefined },
  ) {
    this.#channel = channel;
    this.#outbox = outbox;
    this.#reader = new Reader(new Cursor(channel.process.log, afterSeq), {
      hasRoom: () => outbox.hasRoom && this.#windowIsOpen(),
      take: (delivery) => this.#outbox.push(this.#frameOf(delivery)),
      end: (failure) => this.#sendEnd(failure),
      afterRun: () => this.#announceExit(),
    });
    this.#windowBytes = options.windowBytes;
    this.#position = options.position;
    channel.viewers += 1;
  }

  /** Begins to send; from here on each append is a wake-up. */
  start(): void {
    if (!this.#over) this.#reader.start();
  }

  /** Sends what there is and there is room for. */
  pump(): void {
    this.#reader.run();
  }

  /** The viewer has taken everything up to `seq`. */
  ack(seq: Seq): void {
    if (seq > this.#reader.cursor.afterSeq) return;
    this.#position?.ack(seq);
    this.pump();
  }

  /** Sends nothing any more. What the session holds it goes on to hold. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader.stop();
    this.#channel.viewers -= 1;
  }

  #windowIsOpen(): boolean {
    return !this.#position || this.#position.bytesUpTo(this.#reader.cursor.afterSeq) < this.#windowBytes;
  }

  #frameOf(delivery: Delivery): Uint8Array {
    if (delivery.type !== "gap") return this.#channel.frameOf(delivery);
    return encode({ type: "gap", channel: this.#channel.id, gap: delivery });
  }

  /** A viewer that has not read what came before waits for the exit no longer than anybody else. */
  #announceExit(): void {
    const { exited } = this.#channel.process.log;
    if (!exited || this.#exitIsTold || this.#reader.cursor.afterSeq >= exited.seq) return;
    this.#exitIsTold = true;
    this.#outbox.push(encode({ type: "exit", channel: this.#channel.id, event: exited }));
  }

  #sendEnd(failure: ExecwireError | undefined): void {
    if (failure) {
      const error = toWireError(failure);
      this.#outbox.push(encode({ type: "failed", channel: this.#channel.id, error }));
    }
    this.end();
  }
}
