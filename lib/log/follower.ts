// Writes a log whose truth is elsewhere: when to ask for events, from where, and what to acknowledge. It asks only while the log
// is read, goes on after the head when the connection comes back, and passes what comes to `ReplayLog.accept`.
//
// Invariants
// 1. While a hold wants everything, the source holds everything back for it too: by one hold, at the acknowledgement.
// 2. The source sends no more once it is a window ahead of that. When it does, it considers the slowest reader dead: that hold is
//    dropped here as well, and the source is asked once more for the others.
// 3. What the log has evicted and the source has not is asked for again only for a reader at the beginning. For one in the middle
//    it is a gap: fetching it again for each slow reader of a fast process would move more than it saves.
import type { DeliveryMode, ExitedEvent, GapNotice, ProcessEvent, Seq } from "../../protocol/index.ts";
import { limits } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Acknowledger, type Position } from "./acknowledger.ts";
import { lastSeqOf } from "./delivery-ring.ts";
import { ReplayLog } from "./replay-log.ts";

/** Where the events come from. */
export interface EventSource {
  /**
   * Send what follows `afterSeq`, from now on; answered by a call of `began`. Replaces an earlier one, whose answer is out of
   * date from here on and not reported. Read is up to `acked`.
   */
  subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void;
  /** Send nothing any more. */
  unsubscribe(): void;
  /** Everything up to `seq` was read; only of interest to a lossless subscription. */
  ack(seq: Seq): void;
}

/** How to follow, and what the log may retain. */
export interface FollowerOptions {
  /** How the events are to be sent while no reader holds them. */
  readonly delivery: DeliveryMode;
  readonly retainedBytes?: number;
  readonly retainedEvents?: number;
  readonly windowBytes?: number;
  readonly clock?: Clock;
}

/** `idle`: no reader. `asked`: what still comes belongs to an earlier subscription. `live`: following. */
type State = "idle" | "asked" | "live";

/** Follows one process at a source. */
export class Follower {
  readonly log: ReplayLog;
  readonly #source: EventSource;
  readonly #acks: Acknowledger;
  readonly #windowBytes: number;
  readonly #delivery: DeliveryMode;
  #state: State = "idle";
  /** What the source was asked for last, or does since it dropped our hold. */
  #asked: DeliveryMode;
  /** Read up to here, as the source was told with the subscription. */
  #askedAcked: Seq = 0;

  constructor(source: EventSource, options: FollowerOptions) {
    const { delivery, windowBytes = limits.windowBytes, clock = systemClock } = options;
    this.#source = source;
    this.#delivery = delivery;
    this.#asked = delivery;
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

  /** Whether events are wanted, so that they must be asked for again on a new connection. */
  get wanted(): boolean {
    return this.#state !== "idle" && !this.log.closed && !this.log.failure;
  }

  /** The source sends from the beginning already. */
  follow(): void {
    this.#state = "live";
    this.#acks.begin({ seq: 0, offset: 0, isEnd: false });
  }

  /** Asks for what follows the head; also after a reconnect. */
  subscribe(): void {
    this.#state = "asked";
    this.#asked = this.#isHeld ? "lossless" : this.#delivery;
    this.#askedAcked = this.#readSeq;
    this.#source.subscribe(this.log.headSeq, this.#asked, this.#askedAcked);
  }

  /** The source answered: what comes from here on belongs to the last subscription. */
  began(): void {
    if (this.#state === "asked") this.#state = "live";
    this.#acks.begin(this.#positionAt(this.#askedAcked));
    // What was read since it was asked: the source may wait for just that.
    this.#acks.acknowledge();
  }

  /** Takes what the source sent. Returns false for what a correct source never sends. */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    if (this.#state !== "live") return true;
    if (lastSeqOf(delivery) > this.log.headSeq) this.#dropDeadHolds();
    const isAccepted = this.log.accept(delivery);
    this.#acks.acknowledge();
    this.#askForHolds();
    return isAccepted;
  }

  /** The source says how the process has exited before it sends what came before. Returns false for what cannot be. */
  announceExit(exit: ExitedEvent): boolean {
    return this.#state !== "live" || this.log.announceExit(exit);
  }

  #onFollowed(): void {
    if (this.#state === "idle" && !this.log.closed && !this.log.failure) this.subscribe();
  }

  #onReaders(): void {
    this.#acks.acknowledge();
    this.#askForHolds();
    if (this.#isHeld) return;
    if (!this.log.isFollowed) this.#rest();
    // To ask for more than there is would only risk what is on its way.
    else if (this.wanted && this.#asked === "lossless" && this.#delivery === "gap") this.subscribe();
  }

  /** Invariant 3. A reader further on waits until the events come past it again. */
  #onMissed(): boolean {
    if (!this.wanted || !this.log.restart()) return false;
    this.subscribe();
    return true;
  }

  #rest(): void {
    if (this.#state !== "idle" && !this.log.closed) this.#source.unsubscribe();
    this.#state = "idle";
  }

  /** Invariant 1. */
  #askForHolds(): void {
    if (this.#isHeld && this.wanted && this.#asked !== "lossless") this.subscribe();
  }

  /** Invariant 2: before what comes now the source had sent this much, and it knew of no more acknowledgements than we do. */
  #dropDeadHolds(): void {
    const { acked } = this.#acks;
    if (!this.#isHeld || this.log.bytesAfter(acked) < this.#windowBytes) return;
    this.#asked = "gap";
    this.log.holds.drop(acked);
  }

  get #isHeld(): boolean {
    return this.log.holds.floor() < Number.POSITIVE_INFINITY;
  }

  /** What every reader has read; all of it while none holds anything. */
  get #readSeq(): Seq {
    return Math.min(this.log.holds.floor(), this.log.headSeq);
  }

  /** Only of interest to a lossless subscription. */
  #readPosition(): Position | undefined {
    return this.#asked === "lossless" && this.#state === "live" ? this.#positionAt(this.#readSeq) : undefined;
  }

  #positionAt(seq: Seq): Position {
    return { seq, offset: this.log.bytesUpTo(seq), isEnd: this.log.closed && seq === this.log.headSeq };
  }
}
