// One remote process as this client knows it: what the server said of it, and its events, asked for while somebody reads.
import type { DeliveryMode, ProcessAddress, ProcessInfo, Seq } from "../../protocol/index.ts";
import { type EventSource, Follower, type FollowerOptions } from "../log/follower.ts";
import type { ReplayLog } from "../log/replay-log.ts";
import type { Link } from "./link.ts";
import type { Requests } from "./requests.ts";

/** A process at the other end of a link, and the source of what follows it here. */
export class RemoteProcess implements EventSource {
  readonly follower: Follower;
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
    options: FollowerOptions,
  ) {
    this.#said = info;
    this.isLossless = options.delivery === "lossless";
    this.#link = link;
    this.#requests = requests;
    this.#onChannel = onChannel;
    this.follower = new Follower(this, options);
  }

  get log(): ReplayLog {
    return this.follower.log;
  }

  /** What the server said last, and what the events have told since. */
  get info(): ProcessInfo {
    const { exited, closed } = this.log;
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
    this.follower.follow();
  }

  /** On a new connection: goes on after the head. */
  resume(): void {
    if (this.follower.wanted) this.follower.subscribe();
  }

  get #address(): ProcessAddress {
    const { processId, incarnation } = this.#said;
    return { processId, incarnation };
  }

  #began(channel: number): void {
    this.#channel = channel;
    this.#onChannel(channel);
  }

  subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void {
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
          this.follower.began();
        },
        onError: (error) => {
          if (round === this.#round) this.log.fail(error);
        },
      },
      { again: false },
    );
  }

  unsubscribe(): void {
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

  ack(seq: Seq): void {
    if (this.#channel !== undefined) this.#link.send({ type: "ack", channel: this.#channel, seq });
  }
}
