// One remote process as this client knows it: what the server said of it, and its events, asked for while somebody reads.
import type { DeliveryMode, GapNotice, ProcessAddress, ProcessEvent, ProcessInfo, Seq } from "../../protocol/index.ts";
import { Replica } from "../log/replica.ts";
import type { ReplicaOptions } from "../log/replica-source.ts";
import type { Link } from "./link.ts";
import type { Requests } from "./requests.ts";

/** Feeds a replica from a link. */
export class RemoteLog {
  readonly replica: Replica;
  readonly #link: Link;
  readonly #requests: Requests;
  /** Tells the router which number stands for this process on the wire. */
  readonly #onChannel: (channel: number) => void;
  /** Whether the session holds the process back for it: so for what this client has started. */
  readonly isLossless: boolean;
  #said: ProcessInfo;
  #channel: number | undefined;
  /** Counts subscriptions: the answer to an earlier one is out of date. */
  #round = 0;

  constructor(
    info: ProcessInfo,
    link: Link,
    requests: Requests,
    onChannel: (channel: number) => void,
    options: ReplicaOptions,
  ) {
    this.#said = info;
    this.isLossless = options.delivery === "lossless";
    this.#link = link;
    this.#requests = requests;
    this.#onChannel = onChannel;
    this.replica = new Replica(
      {
        subscribe: (afterSeq, delivery, acked) => this.#subscribe(afterSeq, delivery, acked),
        unsubscribe: () => this.#unsubscribe(),
        ack: (seq) => this.#ack(seq),
      },
      options,
    );
  }

  /** What the server said last, and what the events have told since. */
  get info(): ProcessInfo {
    const { exited, closed } = this.replica;
    if (!exited || this.#said.state === "removed") return this.#said;
    const { exitCode, signal } = exited;
    return { ...this.#said, state: closed ? "closed" : "exited", exitCode, signal };
  }

  set info(info: ProcessInfo) {
    this.#said = info;
  }

  /** The server sends from the beginning, without having been asked apart from the start. */
  follow(channel: number): void {
    this.#began(channel);
    this.replica.follow();
  }

  /** On a new connection: goes on after the head. */
  resume(): void {
    if (this.replica.wanted) this.replica.subscribe();
  }

  /** Takes a push. Returns false when it does not fit, which a right server never does. */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    return this.replica.accept(delivery);
  }

  get #address(): ProcessAddress {
    const { processId, incarnation } = this.#said;
    return { processId, incarnation };
  }

  #began(channel: number): void {
    this.#channel = channel;
    this.#onChannel(channel);
  }

  #subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void {
    this.#round += 1;
    const round = this.#round;
    // Belongs to this connection: on a new one `resume` asks anew, from the head of that moment.
    if (!this.#link.isOpen) return;
    this.#requests.request(
      "process/subscribe",
      { ...this.#address, afterSeq, delivery, acked },
      {
        onResult: ({ channel }) => {
          if (round !== this.#round) return;
          this.#began(channel);
          this.replica.began();
        },
        onError: (error) => {
          if (round === this.#round) this.replica.fail(error);
        },
      },
      { again: false },
    );
  }

  #unsubscribe(): void {
    this.#round += 1;
    if (!this.#link.isOpen) return;
    const ignore = () => undefined;
    this.#requests.request(
      "process/unsubscribe",
      this.#address,
      { onResult: ignore, onError: ignore },
      { again: false },
    );
  }

  #ack(seq: Seq): void {
    if (this.#channel !== undefined) this.#link.send({ type: "ack", channel: this.#channel, seq });
  }
}
