// The subscription of a Codex session to one process. There is no queue: events that the client has not received are in the
// log, and this class holds three positions in it.
//
//  detached --attach--> live          the child waits for a slow client
//     |  \--attach after a resume--> waiting --a read that is up to date, or one second--> live
//     +-- keeps up to `unreadBytes` after the received position; the child keeps running
//
// Invariants
// 1. `#subscription` is the position up to which events were pushed. It advances only while a connection has room.
// 2. `#received` is the position that the client has confirmed, by a pong after a push or by a read that starts there. The
//    events after it are kept, up to `unreadBytes`, with or without a connection.
// 3. While `#missedSeq` is set, the client has not read the events that it missed. A pong confirms nothing then, since the
//    pushed events come after the missed ones.
// 4. With a connection the child does not run past `#lossless`: the pushed position or, while waiting, the received one.
import type { Delivery, Seq } from "../../../protocol/index.ts";
import type { LogView } from "../../log/log-view.ts";
import { type Receiver, Subscription } from "../../server/sending/subscription.ts";
import { AckedPosition } from "../../server/sessions/acked-position.ts";
import { type Allocate, EventText } from "./event-text.ts";
import type { AckedSource } from "./heartbeat.ts";

/** The connection that events are pushed to. */
export interface PushTarget {
  readonly hasRoom: boolean;
  /** Allocates memory for a frame that will be pushed. */
  readonly allocate: Allocate;
  push(source: AckedSource, frame: Uint8Array): void;
  /** Events can no longer be pushed in order: the client must reconnect and read the rest. */
  broken(): void;
}

/** Pushes the events of a process to the current connection. */
export class CodexSubscription implements AckedSource, Receiver {
  readonly log: LogView;
  readonly #text: EventText;
  readonly #received: AckedPosition;
  #missedSeq: Seq = 0;
  #target: PushTarget | undefined;
  /** Set while waiting; events after it will be pushed. */
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

  /** Whether the log has ended and the connected client has not been sent all of it. */
  get owesOutput(): boolean {
    const isPushing = this.#target !== undefined && this.#subscription !== undefined && this.#missedSeq === 0;
    return isPushing && this.log.closed && this.sentSeq < this.log.headSeq;
  }

  /** Starts pushing after the received position. After a resume, waits for the client to read first what it missed. */
  attach(target: PushTarget, { resumed }: { readonly resumed: boolean }): void {
    const { log } = this;
    const { acked } = this.#received;
    // Another connection has resumed the session meanwhile and is attached already.
    if (!resumed && this.#target) return;
    this.detach();
    this.#target = target;
    if (resumed) this.#missedSeq = log.headSeq > acked ? log.headSeq : 0;
    // The log is complete: the client gets everything by reading.
    if (resumed && log.closed) return;
    this.#lossless = new AckedPosition(log, acked);
    if (resumed) this.#waitingAt = log.headSeq;
    else this.#pushAfter(acked);
  }

  /** The connection has ended; the process runs on without being paused. */
  detach(): void {
    this.#target = undefined;
    this.#waitingAt = undefined;
    this.#subscription?.end();
    this.ended();
  }

  /** No client will subscribe to this process again. */
  end(): void {
    this.detach();
    this.#received.release();
  }

  /** The client has received everything up to `seq`. */
  received(seq: Seq): void {
    if (seq <= this.#received.acked || seq > this.log.headSeq) return;
    this.#received.ack(seq);
    if (this.#waitingAt !== undefined) this.#lossless?.ack(seq);
  }

  /** The connection is alive, even if it is slow. */
  renew(): void {
    this.#lossless?.ack(0);
  }

  /** The client was sent the reply to a read up to `seq`. It keeps reading until it is up to date. */
  wasRead(seq: Seq): void {
    if (seq >= this.#missedSeq) this.#missedSeq = 0;
    if (this.#waitingAt !== undefined && seq >= this.#waitingAt) this.#pushAfter(seq);
  }

  /** The client does not read what it missed: it gets the events since it resumed. */
  goLive(): void {
    if (this.#waitingAt !== undefined) this.#pushAfter(this.#waitingAt);
  }

  /** Pushes as many events as there is room for. */
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
    // Only once: after a reconnect the client gets the rest, and the failure, by `process/read`.
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
