// Keeps a copy of a log that another program writes: decides when to subscribe, from where, and what to acknowledge. Subscribes
// only while the copy has readers, continues after the head on a new connection, and passes deliveries to `ReplayLog.accept`.
//
// Invariants
// 1. While a reader here has a hold, the source has one for us too, at the acknowledged position.
// 2. The source stops sending once it is a window ahead of that position. If it sends more, it has dropped our hold: the slowest
//    hold is dropped here as well, and we subscribe again for the others. Without others we acknowledge the head, in case the
//    source only counts fewer bytes than we do and still waits.
// 3. Events that only the source still retains are fetched again for a reader at the beginning. A reader in the middle gets a
//    gap: fetching them for each slow reader of a fast process would move more bytes than it saves.
import type { DeliveryMode, ExitedEvent, GapNotice, ProcessEvent, Seq } from "../../protocol/index.ts";
import { limits } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Acknowledger, type Position } from "./acknowledger.ts";
import { lastSeqOf } from "./delivery-ring.ts";
import { ReplayLog } from "./replay-log.ts";

/** The program that numbers the events, as the follower calls it. */
export interface EventSource {
  /**
   * Asks for the events after `afterSeq`, with everything up to `acked` read; confirmed by a call of `began`. Replaces an earlier
   * subscription, whose confirmation must not be reported any more.
   */
  subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void;
  /** Asks for no more events. */
  unsubscribe(): void;
  /** Acknowledges everything up to `seq`, for a lossless subscription. */
  ack(seq: Seq): void;
}

/** How to follow, and what the log may retain. */
export interface FollowerOptions {
  /** How the events are sent while no reader has a hold. */
  readonly delivery: DeliveryMode;
  readonly retainedBytes?: number;
  readonly retainedEvents?: number;
  readonly windowBytes?: number;
  readonly clock?: Clock;
}

/** `idle`: no reader. `subscribing`: deliveries still belong to an earlier subscription. `live`: they belong to the last one. */
type State = "idle" | "subscribing" | "live";

/** Follows one process of a source. */
export class Follower {
  readonly log: ReplayLog;
  readonly #source: EventSource;
  readonly #acks: Acknowledger;
  readonly #windowBytes: number;
  readonly #delivery: DeliveryMode;
  #state: State = "idle";
  /** The delivery mode at the source; undefined since the source dropped our hold. */
  #mode: DeliveryMode | undefined;
  #wasFollowed = false;
  /** Acknowledged by the last subscription. */
  #subscribedAck: Seq = 0;

  constructor(source: EventSource, options: FollowerOptions) {
    const { delivery, windowBytes = limits.windowBytes, clock = systemClock } = options;
    this.#source = source;
    this.#delivery = delivery;
    this.#mode = delivery;
    this.#windowBytes = windowBytes;
    this.log = new ReplayLog(options, {
      onFollowed: () => this.#onFollowed(),
      onReaders: () => this.#onReaders(),
      onMissed: () => this.#onMissed(),
    });
    this.#acks = new Acknowledger({
      clock,
      windowBytes,
      position: () => this.#readPosition(),
      ack: (seq) => source.ack(seq),
    });
  }

  /** Whether there are readers and events to come, so that a new connection needs a new subscription. */
  get wanted(): boolean {
    return this.#state !== "idle" && !this.log.closed && !this.log.failure;
  }

  /** The source sends everything from the beginning without a subscription. */
  follow(): void {
    this.#state = "live";
    this.#acks.begin({ seq: 0, offset: 0, isEnd: false });
  }

  /** Subscribes to the events after the head; also after a reconnect. */
  subscribe(): void {
    this.#state = "subscribing";
    this.#mode = this.#wantedMode;
    this.#subscribedAck = this.#readSeq;
    this.#source.subscribe(this.log.headSeq, this.#mode, this.#subscribedAck);
  }

  /** The source confirmed: from here on, deliveries belong to the last subscription. */
  began(): void {
    if (this.#state === "subscribing") this.#state = "live";
    this.#acks.begin(this.#positionAt(this.#subscribedAck));
    // Acknowledge what was read in the meantime: the source may be waiting for it.
    this.#acks.acknowledge();
  }

  /** Adds what the source sent. Returns false if a correct source never sends it here. */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    if (this.#state !== "live") return true;
    if (lastSeqOf(delivery) > this.log.headSeq) this.#dropDeadHolds();
    const isAccepted = this.log.accept(delivery);
    this.#correctMode();
    this.#acks.acknowledge();
    return isAccepted;
  }

  /** The source announces the exit ahead of the events before it. Returns false if that exit is impossible. */
  announceExit(exit: ExitedEvent): boolean {
    return this.#state !== "live" || this.log.announceExit(exit);
  }

  #onFollowed(): void {
    this.#wasFollowed = true;
    if (this.#state === "idle" && !this.log.closed && !this.log.failure) this.subscribe();
  }

  #onReaders(): void {
    this.#acks.acknowledge();
    if (this.#isHeld || this.log.isFollowed) this.#correctMode();
    // The events of a process that was just started arrive anyway, and its first reader may be about to come.
    else if (this.#wasFollowed) this.#unsubscribe();
  }

  /** Invariant 3. Readers that are further on wait until the events pass their positions again. */
  #onMissed(): boolean {
    if (!this.wanted || !this.log.restart()) return false;
    this.subscribe();
    return true;
  }

  #unsubscribe(): void {
    if (this.#state !== "idle" && !this.log.closed) this.#source.unsubscribe();
    this.#state = "idle";
  }

  /** Invariants 1 and 2. Only when needed: a new subscription discards deliveries on their way, and may lose the size of a gap. */
  #correctMode(): void {
    const isUseful = this.#isHeld || this.#mode === "lossless";
    if (isUseful && this.wanted && this.#mode !== this.#wantedMode) this.subscribe();
  }

  /** Invariant 2: the source had sent this much before, and knows of no acknowledgement that we have not sent. */
  #dropDeadHolds(): void {
    const { acked } = this.#acks;
    if (!this.#isHeld || this.log.bytesAfter(acked) < this.#windowBytes) return;
    this.#mode = undefined;
    this.log.holds.drop(acked);
  }

  get #isHeld(): boolean {
    return this.log.holds.floor() < Number.POSITIVE_INFINITY;
  }

  get #wantedMode(): DeliveryMode {
    return this.#isHeld ? "lossless" : this.#delivery;
  }

  /** The seq that every holding reader has reached; the head without holds. */
  get #readSeq(): Seq {
    // A reader within a gap has nothing more to read of it, and the source may wait for its end.
    return this.log.endOf(Math.min(this.log.holds.floor(), this.log.headSeq));
  }

  /** A `gap` subscription is not acknowledged. */
  #readPosition(): Position | undefined {
    return this.#mode !== "gap" && this.#state === "live" ? this.#positionAt(this.#readSeq) : undefined;
  }

  #positionAt(seq: Seq): Position {
    return { seq, offset: this.log.bytesUpTo(seq), isEnd: this.log.closed && seq === this.log.headSeq };
  }
}
