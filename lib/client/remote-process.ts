// A process of the server, as this client knows it: its last info, and its events, subscribed to while they are read.
import type { DeliveryMode, ProcessAddress, ProcessInfo, Seq, ServerMessage } from "../../protocol/index.ts";
import { type ExecwireError, fromWireError } from "../errors.ts";
import { type EventSource, Follower, type FollowerOptions } from "../log/follower.ts";
import type { ReplayLog } from "../log/replay-log.ts";
import type { Link } from "./link.ts";
import type { Requests } from "./requests.ts";
import { explained } from "./session-loss.ts";

/** A message about one process. */
export type Push = Extract<ServerMessage, { readonly channel: number }>;

/** A process at the other end of a link, and the event source of its follower. */
export class RemoteProcess implements EventSource {
  readonly follower: Follower;
  readonly #link: Link;
  readonly #requests: Requests;
  /** Called with the channel number of this process, for the routing of its messages. */
  readonly #onChannel: (channel: number) => void;
  /** Whether the process waits for this client, as it does for the client that started it. */
  readonly isLossless: boolean;
  #lastInfo: ProcessInfo;
  #channel: number | undefined;
  /** Set after the loss of a session, until the server is known to have the process still. */
  #sessionLoss: ExecwireError | undefined;
  /** Counts subscriptions and their ends: the reply to an earlier subscription is out of date. */
  #round = 0;

  constructor(
    info: ProcessInfo,
    link: Link,
    requests: Requests,
    onChannel: (channel: number) => void,
    options: FollowerOptions,
  ) {
    this.#lastInfo = info;
    this.isLossless = options.delivery === "lossless";
    this.#link = link;
    this.#requests = requests;
    this.#onChannel = onChannel;
    this.follower = new Follower(this, options);
  }

  get log(): ReplayLog {
    return this.follower.log;
  }

  /** The last info from the server, updated by the events since then. */
  get info(): ProcessInfo {
    const { exited, closed } = this.log;
    if (!exited || this.#lastInfo.state === "removed") return this.#lastInfo;
    const { exitCode, signal } = exited;
    return { ...this.#lastInfo, state: closed ? "closed" : "exited", exitCode, signal };
  }

  set info(info: ProcessInfo) {
    this.#lastInfo = info;
  }

  /** The start has subscribed: the server sends all events on this channel. */
  follow(channel: number): void {
    this.#began(channel);
    this.follower.follow();
  }

  /** Passes a message to the log. Returns false when it contradicts earlier ones. */
  receive(message: Push): boolean {
    switch (message.type) {
      case "event":
        return this.follower.accept(message.event);
      case "exit":
        return this.follower.announceExit(message.event);
      case "gap":
        return this.follower.accept({ ...message.gap, type: "gap" });
      case "failed":
        this.log.fail(fromWireError(message.error));
        return true;
    }
  }

  /** A new session begins. If its server does not know this process, it is this loss that explains why. */
  loseSession(loss: ExecwireError): void {
    this.#sessionLoss = loss;
  }

  /** Subscribes again on a new connection, after the head of the log. */
  resume(): void {
    if (this.follower.wanted) this.follower.subscribe();
  }

  get #address(): ProcessAddress {
    const { processId, incarnation } = this.#lastInfo;
    return { processId, incarnation };
  }

  #began(channel: number): void {
    this.#channel = channel;
    this.#onChannel(channel);
  }

  subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void {
    this.#round += 1;
    const round = this.#round;
    // Belongs to this connection: on a new one, `resume` subscribes again, from the head at that time.
    if (!this.#link.isOpen) return;
    this.#requests.request(
      "process/subscribe",
      { ...this.#address, afterSeq, delivery, acked },
      {
        onResult: ({ channel }) => {
          if (round !== this.#round) return;
          this.#sessionLoss = undefined;
          this.#began(channel);
          this.follower.began();
        },
        onError: (error) => {
          if (round === this.#round) this.log.fail(explained(error, this.#sessionLoss));
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
