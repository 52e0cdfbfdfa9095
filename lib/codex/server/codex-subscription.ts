// One process as its Codex session follows it. What a reader gets wrong: there is no queue. What the client has not taken is
// in the log, and this is three positions in it.
//
//  detached --attach--> live          the child waits for a slow client
//     |  \--attach after a resume--> waiting --a read that is up to date, or a second--> live
//     +-- keeps up to `unreadBytes` after what was received; the child runs on
//
// Invariants
// 1. `#subscription` is how far events were pushed. It moves only while a connection has room.
// 2. `#received` is how far the client has proved to be: by a pong after a push, or by reading on from there. What follows
//    it is kept, up to `unreadBytes`, with or without a connection.
// 3. While `#missedSeq` is set, the client has not read what it missed. Pongs prove nothing then: what was pushed lies
//    behind that.
// 4. With a connection the child does not run past `#lossless`: what was pushed or, while waiting, what was received.
import type { Delivery, Seq } from "../../../protocol/index.ts";
import type { LogView } from "../../log/log-view.ts";
import { AckedPosition } from "../../server/acked-position.ts";
import { type Receiver, Subscription } from "../../server/subscription.ts";
import { type Allocate, EventText } from "./event-text.ts";
import type { AckedSource } from "./heartbeat.ts";

/** Where events go. */
export interface PushTarget {
  readonly hasRoom: boolean;
  /** Memory for a frame that will be pushed. */
  readonly allocate: Allocate;
  push(source: AckedSource, frame: Uint8Array): void;
  /** Nothing can follow for this client in order: it must come back and read what there is. */
  broken(): void;
}

/** Pushes the events of a process to the current connection. */
export class CodexSubscription implements AckedSource, Receiver {
  readonly log: LogView;
  readonly #text: EventText;
  readonly #received: AckedPosition;
  #missedSeq: Seq = 0;
  #target: PushTarget | undefined;
  /** While waiting: what follows it will be pushed. */
  #waitingAt: Seq | undefined;
  #lossless: AckedPosition | undefined;
  #subscription: Subscription | undefined;

  constructor(processId: string, log: LogView, unreadBytes: number) {
    this.log = log;
    this.#text = new EventText(processId);
    this.#received = new AckedPosition(log, 0, unreadBytes);
  }

  hasRoom(): boolean {
    return this.#target?.hasRoom === true;
  }

  /** Invariant 3. */
  get sentSeq(): Seq {
    return (this.#missedSeq > 0 ? undefined : this.#subscription?.sentSeq) ?? this.#received.acked;
  }

  /** Begins to push: after what was received or, when the client has to read first what it missed, from here on. */
  attach(target: PushTarget, { resumed }: { readonly resumed: boolean }): void {
    const { log } = this;
    const { acked } = this.#received;
    // A connection that resumed the session in the meantime has it already.
    if (!resumed && this.#target) return;
    this.detach();
    this.#target = target;
    if (resumed) this.#missedSeq = log.headSeq > acked ? log.headSeq : 0;
    // All there will ever be is there to be read.
    if (resumed && log.closed) return;
    this.#lossless = new AckedPosition(log, acked);
    if (resumed) this.#waitingAt = log.headSeq;
    else this.#pushAfter(acked);
  }

  /** The connection is gone; the process goes on without being held back. */
  detach(): void {
    this.#target = undefined;
    this.#waitingAt = undefined;
    this.#subscription?.end();
    this.ended();
  }

  /** No client will follow this process again. */
  end(): void {
    this.detach();
    this.#received.release();
  }

  /** The client has everything up to `seq`. */
  received(seq: Seq): void {
    if (seq <= this.#received.acked || seq > this.log.headSeq) return;
    this.#received.ack(seq);
    if (this.#waitingAt !== undefined) this.#lossless?.ack(seq);
  }

  /** The connection is still there, however slow. */
  renew(): void {
    this.#lossless?.ack(0);
  }

  /** The client was answered a read up to `seq`. One that is not up to date goes on reading. */
  wasRead(seq: Seq): void {
    if (seq >= this.#missedSeq) this.#missedSeq = 0;
    if (this.#waitingAt !== undefined && seq >= this.#waitingAt) this.#pushAfter(seq);
  }

  /** The client does not read what it missed: it gets what has come since it is back. */
  goLive(): void {
    if (this.#waitingAt !== undefined) this.#pushAfter(this.#waitingAt);
  }

  /** Pushes what there is and there is room for. */
  pump(): void {
    this.#subscription?.pump();
  }

  send(delivery: Delivery): void {
    if (delivery.type === "gap") return this.failed();
    const target = this.#target as PushTarget;
    target.push(this, this.#text.notification(delivery, target.allocate));
  }

  afterRun(sentSeq: Seq): void {
    this.#lossless?.ack(sentSeq);
  }

  failed(): void {
    // Only once: after a reconnect the client reads what there is, and also why there is no more.
    this.#subscription?.end();
    this.#target?.broken();
  }

  ended(): void {
    this.#lossless?.release();
    this.#lossless = undefined;
  }

  #pushAfter(afterSeq: Seq): void {
    this.#waitingAt = undefined;
    this.#subscription = new Subscription(this.log, this, { afterSeq });
    this.#subscription.start();
  }
}
