// The events of one remote process: asks the server for them while somebody reads, and hands on what it sends.
import type { DeliveryMode, GapNotice, ProcessAddress, ProcessEvent, Seq, WireError } from "../../protocol/index.ts";
import { fromWireError } from "../errors.ts";
import { Replica, type ReplicaOptions } from "../log/replica.ts";
import type { Link } from "./link.ts";
import type { Requests } from "./requests.ts";

/** Feeds a replica from a link. */
export class RemoteLog {
  readonly replica: Replica;
  readonly #address: ProcessAddress;
  readonly #link: Link;
  readonly #requests: Requests;
  /** Tells the router which number stands for this process on the wire. */
  readonly #onChannel: (channel: number) => void;
  #channel: number | undefined;
  /** Counts subscriptions: the answer to an earlier one is out of date. */
  #round = 0;

  constructor(
    address: ProcessAddress,
    link: Link,
    requests: Requests,
    onChannel: (channel: number) => void,
    options: ReplicaOptions,
  ) {
    this.#address = address;
    this.#link = link;
    this.#requests = requests;
    this.#onChannel = onChannel;
    this.replica = new Replica(
      {
        subscribe: (afterSeq, delivery) => this.#subscribe(afterSeq, delivery),
        unsubscribe: () => this.#unsubscribe(),
        ack: (seq) => this.#ack(seq),
      },
      options,
    );
  }

  /** On a new connection: goes on after the head. */
  resume(): void {
    if (this.replica.wanted) this.replica.subscribe();
  }

  /** Takes a push. Returns false when it does not fit, which a right server never does. */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    return this.replica.accept(delivery);
  }

  /** The server says that the log will never be closed. */
  failed(error: WireError): void {
    this.replica.fail(fromWireError(error));
  }

  #subscribe(afterSeq: Seq, delivery: DeliveryMode): void {
    this.#round += 1;
    const round = this.#round;
    // Not sent again on a new connection: `resume` asks anew, from the head of that moment.
    if (this.#link.state !== "connected") return;
    this.#requests.callOnce(
      "process/subscribe",
      { ...this.#address, afterSeq, delivery },
      {
        onResult: ({ channel }) => {
          if (round !== this.#round) return;
          this.#channel = channel;
          this.#onChannel(channel);
          this.replica.began();
        },
        onError: (error) => {
          if (round === this.#round) this.replica.fail(error);
        },
      },
    );
  }

  #unsubscribe(): void {
    this.#round += 1;
    if (this.#link.state !== "connected") return;
    this.#requests.callOnce("process/unsubscribe", this.#address, {
      onResult: () => undefined,
      onError: () => undefined,
    });
  }

  #ack(seq: Seq): void {
    if (this.#channel !== undefined) this.#link.send({ type: "ack", channel: this.#channel, seq });
  }
}
