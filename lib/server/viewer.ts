// What a subscription of our own protocol sends: frames that all viewers of a process share, and the exit ahead of its turn.
import { type Delivery, encode, type Seq } from "../../protocol/index.ts";
import { type ExecwireError, toWireError } from "../errors.ts";
import type { Channel } from "./channel.ts";
import type { Outbox } from "./outbox.ts";
import type { Receiver } from "./subscription.ts";

/** One viewer of a channel, on one connection. */
export class Viewer implements Receiver {
  readonly #channel: Channel;
  readonly #outbox: Outbox;
  #exitIsSent = false;

  constructor(channel: Channel, outbox: Outbox) {
    this.#channel = channel;
    this.#outbox = outbox;
    channel.viewers += 1;
  }

  get hasRoom(): boolean {
    return this.#outbox.hasRoom;
  }

  send(delivery: Delivery): void {
    const { id } = this.#channel;
    const isGap = delivery.type === "gap";
    this.#outbox.push(isGap ? encode({ type: "gap", channel: id, gap: delivery }) : this.#channel.frameOf(delivery));
  }

  /** A viewer that has not read what came before waits for the exit no longer than the others. */
  afterRun(sentSeq: Seq): void {
    const { exited } = this.#channel.process.log;
    if (!exited || this.#exitIsSent || sentSeq >= exited.seq) return;
    this.#exitIsSent = true;
    this.#outbox.push(encode({ type: "exit", channel: this.#channel.id, event: exited }));
  }

  failed(failure: ExecwireError): void {
    this.#outbox.push(encode({ type: "failed", channel: this.#channel.id, error: toWireError(failure) }));
  }

  ended(): void {
    this.#channel.viewers -= 1;
  }
}
