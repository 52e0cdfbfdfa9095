// One viewer of one process: a cursor that moves while the connection has room. A viewer that cannot keep up costs this
// number and its socket's buffer.
import { encode, type Seq } from "../../protocol/index.ts";
import { toWireError } from "../errors.ts";
import { Cursor } from "../log/cursor.ts";
import type { LogView } from "../log/log-view.ts";
import type { Channel } from "./channel.ts";
import type { HeldPosition } from "./held-position.ts";
import type { Outbox } from "./outbox.ts";

/** Sends the events of a channel to one connection. */
export class Subscription {
  readonly #channel: Channel;
  readonly #outbox: Outbox;
  readonly #cursor: Cursor;
  readonly #windowBytes: number;
  /** Of a lossless subscription. */
  readonly #position: HeldPosition | undefined;
  #stop: (() => void) | undefined;
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
    this.#cursor = new Cursor(channel.process.log, afterSeq);
    this.#windowBytes = options.windowBytes;
    this.#position = options.position;
    channel.viewers += 1;
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
    this.#outbox.push(encode({ type: "exit", channel: this.#channel.id, event: exited }));
  }

  #sendEvents(log: LogView): void {
    while (!this.#over && this.#outbox.hasRoom && this.#windowIsOpen()) {
      const delivery = this.#cursor.next();
      if (delivery === undefined || delivery === "loading") {
        if (delivery === undefined && log.failure) this.#fail();
        return;
      }
      if (delivery.type === "gap") {
        this.#outbox.push(encode({ type: "gap", channel: this.#channel.id, gap: delivery }));
        continue;
      }
      this.#outbox.push(this.#channel.frameOf(delivery));
      if (delivery.type === "closed") this.end();
    }
  }

  /** The viewer has taken everything up to `seq`. */
  ack(seq: Seq): void {
    if (seq > this.#cursor.afterSeq) return;
    this.#position?.ack(seq);
    this.pump();
  }

  /** Sends nothing any more. What the session holds it goes on to hold. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stop?.();
    this.#channel.viewers -= 1;
  }

  #windowIsOpen(): boolean {
    return !this.#position || this.#position.bytesUpTo(this.#cursor.afterSeq) < this.#windowBytes;
  }

  #fail(): void {
    const error = toWireError(this.#channel.process.log.failure);
    this.#outbox.push(encode({ type: "failed", channel: this.#channel.id, error }));
    this.end();
  }
}
