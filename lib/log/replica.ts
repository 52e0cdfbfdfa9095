// A log whose truth is elsewhere: written by the wire, read like any other. It asks for events only while somebody reads,
// from where that reader stands, and goes on after its head when the connection comes back.
//
// Invariants
// 1. What it holds is consecutive: an event or a gap follows the seq before it; what was seen is dropped, a hole is refused.
// 2. An event is never invented: it came from the source with its seq.
// 3. A reader that begins at the beginning, after this has let go of it, may still find it at the source: the answer is `loading`
//    and the replica begins anew, unless somebody has yet to read what would be let go of. For a reader in the middle what was
//    let go of is a gap: fetching it again for each slow reader of a fast process would move more than it saves.
// 4. Nothing that a hold has not read is evicted. The source has one hold for all of them, at the acknowledgement, and sends no
//    more once it is a window ahead of that. When it does, it has taken the slowest reader for gone: that hold is over here as
//    well, and the others are asked for anew.
import type { Delivery, DeliveryMode, ExitedEvent, GapNotice, ProcessEvent, Seq } from "../../protocol/index.ts";
import { limits } from "../../protocol/index.ts";
import { systemClock } from "../clock.ts";
import type { ExecwireError } from "../errors.ts";
import { Acknowledger, type Position } from "./acknowledger.ts";
import type { Hold, LogView } from "./log-view.ts";
import { lastSeqOf, type ReceivedItem, ReceivedItems } from "./received-items.ts";
import type { ReplicaOptions, ReplicaSource } from "./replica-source.ts";

/** Nobody reads: `idle`. Asked for, and what still comes belongs to an earlier subscription: `asked`. Following: `live`. */
type ReplicaState = "idle" | "asked" | "live";

/** A log view fed by a subscription. */
export class Replica implements LogView {
  readonly #source: ReplicaSource;
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  readonly #windowBytes: number;
  readonly #acks: Acknowledger;
  readonly #wakes = new Set<() => void>();
  readonly #holds = new Set<() => Seq>();
  readonly #delivery: DeliveryMode;
  /** What the source was asked for last, or does as long as it holds nothing for us. */
  #asked: DeliveryMode;
  #state: ReplicaState = "idle";
  #items = new ReceivedItems();
  /** This has let go of events that the source may still have. */
  #hasEvicted = false;
  /** It was asked for again, and nobody has read the beginning yet. */
  #beganAnew = false;
  #head: Seq = 0;
  /** False once bytes were lost whose number nobody knows, or when the beginning was not at 0. */
  #offsetsAreTotal = true;
  /** What the source was told, when it was asked, to be read already. */
  #askedWith: Seq = 0;
  #exited: ExitedEvent | undefined;
  /** Of the end; endless before. */
  #closedSeq = Number.POSITIVE_INFINITY;
  #failure: ExecwireError | undefined;

  constructor(source: ReplicaSource, options: ReplicaOptions) {
    this.#source = source;
    this.#delivery = options.delivery;
    this.#asked = options.delivery;
    this.#maxBytes = options.retainedBytes ?? limits.retainedBytes;
    this.#maxEvents = options.retainedEvents ?? limits.retainedEvents;
    this.#windowBytes = options.windowBytes ?? limits.windowBytes;
    this.#acks = new Acknowledger({
      clock: options.clock ?? systemClock,
      windowBytes: this.#windowBytes,
      position: () => this.#readPosition(),
      ack: (seq) => source.ack(seq),
    });
  }

  get firstSeq(): Seq {
    return this.#items.firstSeq ?? this.#head + 1;
  }

  get headSeq(): Seq {
    return this.#head;
  }

  get exited(): ExitedEvent | undefined {
    return this.#exited;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get failure(): ExecwireError | undefined {
    return this.#failure;
  }

  /** Whether events are wanted, so that they must be asked for again on a new connection. */
  get wanted(): boolean {
    return this.#state !== "idle" && !this.#closed && !this.#failure;
  }

  next(afterSeq: Seq): Delivery | "loading" | undefined {
    const seq = afterSeq + 1;
    const first = this.firstSeq;
    if (seq < first && this.#exited?.seq === seq) return this.#exited;
    if (seq > this.#head) return undefined;
    if (seq < first) {
      if (afterSeq === 0 && this.#mayBeginAnew()) return this.#beginAnew();
      const exitSeq = this.#exited?.seq ?? 0;
      return gap(seq, exitSeq > seq && exitSeq < first ? exitSeq - 1 : first - 1);
    }
    if (afterSeq === 0) this.#beganAnew = false;
    const { delivery } = this.#items.find(seq) as ReceivedItem;
    if (delivery.type !== "gap" || delivery.firstSeq === seq) return delivery;
    return gap(seq, delivery.lastSeq);
  }

  offsetAfter(seq: Seq): number | undefined {
    if (seq === 0) return 0;
    if (!this.#offsetsAreTotal) return undefined;
    if (seq === this.firstSeq - 1) return this.#items.evictedOffset;
    const item = this.#items.find(seq);
    return item && lastSeqOf(item.delivery) === seq ? item.offset : undefined;
  }

  onAppend(wake: () => void): () => void {
    const entry = () => wake();
    this.#wakes.add(entry);
    if (this.#state === "idle" && !this.#closed && !this.#failure) this.subscribe();
    return () => {
      this.#wakes.delete(entry);
      this.#restIfUnread();
    };
  }

  hold(position: () => Seq, upToBytes?: number): Hold {
    // The source does not know that kind.
    if (upToBytes !== undefined) return { isLive: true, renew: () => undefined, release: () => undefined };
    this.#holds.add(position);
    if (this.wanted && this.#asked !== "lossless") this.subscribe();
    const holds = this.#holds;
    return {
      get isLive() {
        return holds.has(position);
      },
      renew: () => this.#acks.acknowledge(),
      release: () => {
        this.#holds.delete(position);
        this.#acks.acknowledge();
        this.#restIfUnread();
      },
    };
  }

  noteGap(): void {}

  /** The source sends from the beginning already. */
  follow(): void {
    this.#state = "live";
    this.#acks.begin({ seq: 0, offset: 0, isEnd: false });
  }

  /** Asks for what follows the head; also after a reconnect. */
  subscribe(): void {
    this.#state = "asked";
    this.#asked = this.#holds.size > 0 ? "lossless" : this.#delivery;
    this.#askedWith = Math.min(this.#floor(), this.#head);
    this.#source.subscribe(this.#head, this.#asked, this.#askedWith);
  }

  /** The source answered: what comes from here on belongs to the last subscription. */
  began(): void {
    if (this.#state === "asked") this.#state = "live";
    this.#acks.begin(this.#positionAt(this.#askedWith));
    // What was read since it was asked: the source may wait for just that.
    this.#acks.acknowledge();
  }

  /** The exit is known before it is this reader's turn to read it. Returns false for another one than the one known. */
  announceExit(exit: ExitedEvent): boolean {
    if (this.#state !== "live") return true;
    if (this.#exited) return isSameExit(exit, this.#exited);
    if (exit.seq <= this.#head) return false;
    this.#exited = Object.freeze(exit);
    for (const wake of this.#wakes) wake();
    return true;
  }

  /**
   * Takes what the source sent. Returns false for what a right source never sends: a hole, a second exit or one that was lost,
   * an end without an exit, or anything after the end.
   */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    if (this.#state !== "live") return true;
    const firstSeq = delivery.type === "gap" ? delivery.firstSeq : delivery.seq;
    const lastSeq = lastSeqOf(delivery);
    if (lastSeq <= this.#head) return true;
    if (firstSeq !== this.#head + 1 || !this.#mayFollow(delivery)) return false;
    const hasEnded = this.#endHoldsOfTheGone();
    this.#head = lastSeq;
    if (delivery.type === "gap") this.#offsetsAreTotal &&= delivery.bytes !== undefined;
    if (delivery.type === "exited") this.#exited = delivery;
    if (delivery.type === "closed") this.#closedSeq = delivery.seq;
    this.#items.push(delivery);
    if (this.#items.evict(this.#maxBytes, this.#maxEvents, this.#floor())) this.#hasEvicted = true;
    this.#acks.acknowledge();
    if (hasEnded && this.#holds.size > 0 && this.wanted) this.subscribe();
    for (const wake of this.#wakes) wake();
    return true;
  }

  /** Nothing will come any more, and nobody knows how it ended. */
  fail(error: ExecwireError): void {
    if (this.#closed || this.#failure) return;
    this.#failure = error;
    for (const wake of this.#wakes) wake();
  }

  /** `exited` and `closed` are never lost, come once, and end what may come. They come again when the replica began anew. */
  #mayFollow(delivery: ProcessEvent | GapNotice): boolean {
    const lastSeq = lastSeqOf(delivery);
    if (lastSeq > this.#closedSeq || (lastSeq === this.#closedSeq && delivery.type !== "closed")) return false;
    const exited = this.#exited;
    if (delivery.type === "closed") return exited !== undefined && exited.seq < delivery.seq;
    if (delivery.type === "exited") return !exited || isSameExit(delivery, exited);
    return !exited || exited.seq < this.#head + 1 || exited.seq > lastSeq;
  }

  get #closed(): boolean {
    return this.#closedSeq < Number.POSITIVE_INFINITY;
  }

  /** Invariant 3. A reader further on waits until the events come past it again. */
  #mayBeginAnew(): boolean {
    // Not twice for one reader: a fast process pushes the beginning out again before a slow reader has looked.
    const may = this.#hasEvicted && this.wanted && !this.#beganAnew;
    this.#beganAnew = false;
    return may && [...this.#holds].every((position) => position() === 0 || position() >= this.#head);
  }

  #beginAnew(): "loading" {
    this.#beganAnew = true;
    this.#items = new ReceivedItems();
    this.#head = 0;
    this.#hasEvicted = false;
    this.#offsetsAreTotal = true;
    this.subscribe();
    return "loading";
  }

  #restIfUnread(): void {
    if (this.#holds.size > 0) return;
    if (this.#wakes.size === 0) this.#rest();
    // Nobody is to be waited for any more. To ask for more than there is would only risk what is on its way.
    else if (this.wanted && this.#asked === "lossless" && this.#delivery === "gap") this.subscribe();
  }

  #rest(): void {
    if (this.#state !== "idle" && !this.#closed) this.#source.unsubscribe();
    this.#state = "idle";
  }

  /** Invariant 4: before what comes now the source had sent this much, and it knew of no more acknowledgements than we do. */
  #endHoldsOfTheGone(): boolean {
    const { acked } = this.#acks;
    if (this.#holds.size === 0 || this.#items.bytesAfter(acked) < this.#windowBytes) return false;
    for (const position of this.#holds) if (position() <= acked) this.#holds.delete(position);
    this.#asked = "gap";
    return true;
  }

  /** Where everyone has read to; only of interest to a lossless subscription. */
  #readPosition(): Position | undefined {
    if (this.#asked !== "lossless" || this.#state !== "live") return undefined;
    return this.#positionAt(Math.min(this.#floor(), this.#head));
  }

  #positionAt(seq: Seq): Position {
    return { seq, offset: this.#items.offsetAt(seq), isEnd: this.#closed && seq === this.#head };
  }

  #floor(): Seq {
    let floor = Number.POSITIVE_INFINITY;
    for (const position of this.#holds) floor = Math.min(floor, position());
    return floor;
  }
}

function isSameExit(one: ExitedEvent, other: ExitedEvent): boolean {
  return one.seq === other.seq && one.exitCode === other.exitCode && one.signal === other.signal;
}

function gap(firstSeq: Seq, lastSeq: Seq): GapNotice {
  return Object.freeze({ type: "gap", firstSeq, lastSeq });
}
