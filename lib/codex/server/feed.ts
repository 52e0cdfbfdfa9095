// One process as its Codex session follows it. What a reader gets wrong: there is no queue. What the client has not taken is
// in the log, and this is three positions in it.
//
//  detached --attach--> live          the child waits for a slow client
//     |  \--attach after a resume--> waiting --a read that is up to date, or a second--> live
//     +-- keeps up to `unreadBytes` after what was received; the child runs on
//
// Invariants
// 1. `#reader` is how far events were pushed. It moves only while a connection has room.
// 2. `#received` is how far the client has proved to be: by a pong after a push, or by reading on from there. What follows
//    it is kept, up to `unreadBytes`, with or without a connection.
// 3. While `#missedSeq` is set, the client has not read what it missed. Pongs prove nothing then: what was pushed lies
//    behind that.
// 4. With a connection the child does not run past what was pushed, nor, while waiting, past what was received.
import type { Delivery, Seq } from "../../../protocol/index.ts";
import { Cursor } from "../../log/cursor.ts";
import type { Hold, LogView } from "../../log/log-view.ts";
import { Reader } from "../../log/reader.ts";
import { type Allocate, EventText } from "./event-text.ts";
import type { AckedSource } from "./receipts.ts";

/** Where events go. */
export interface FeedTarget {
  readonly hasRoom: boolean;
  /** Memory for a frame that will be pushed. */
  readonly allocate: Allocate;
  push(source: AckedSource, frame: Uint8Array): void;
  /** Nothing can follow for this client in order: it must come back and read what there is. */
  broken(): void;
}

/** Pushes the events of a process to the current connection. */
export class Feed implements AckedSource {
  readonly log: LogView;
  readonly #text: EventText;
  readonly #kept: Hold;
  readonly #reader: Reader;
  #received: Seq = 0;
  #missedSeq: Seq = 0;
  #target: FeedTarget | undefined;
  #isWaiting = false;
  #lossless: Hold | undefined;

  constructor(processId: string, log: LogView, unreadBytes: number) {
    this.log = log;
    this.#text = new EventText(processId);
    this.#reader = new Reader(new Cursor(log), {
      hasRoom: () => !this.#isWaiting && this.#target?.hasRoom === true,
      take: (delivery) => this.#push(delivery),
      end: (failure) => (failure ? this.#break() : this.#release()),
      // The hold moves with the cursor.
      afterRun: () => this.#lossless?.renew(),
    });
    this.#kept = log.hold(() => this.#received, unreadBytes);
  }

  get isAttached(): boolean {
    return this.#target !== undefined;
  }

  /** Invariant 3. */
  get sentSeq(): Seq {
    return this.#missedSeq > 0 ? this.#received : this.#reader.cursor.afterSeq;
  }

  /** Begins to push: from where it is, or, when the client has to read first what it missed, from here on. */
  attach(target: FeedTarget, { resumed }: { readonly resumed: boolean }): void {
    const { log } = this;
    this.#target = target;
    if (resumed) {
      this.#isWaiting = true;
      this.#reader.cursor = new Cursor(log, log.headSeq);
      this.#missedSeq = log.headSeq > this.#received ? log.headSeq : 0;
      // All there will ever be is there to be read.
      if (log.closed) return;
    }
    this.#lossless = log.hold(() => (this.#isWaiting ? this.#received : this.#reader.cursor.afterSeq));
    this.#reader.start();
  }

  /** The connection is gone; the process goes on without being held back. */
  detach(): void {
    this.#target = undefined;
    this.#release();
  }

  /** No client will follow this process again. */
  end(): void {
    this.detach();
    this.#kept.release();
  }

  /** The client has everything up to `seq`. */
  received(seq: Seq): void {
    if (seq <= this.#received || seq > this.log.headSeq) return;
    this.#received = seq;
    this.#kept.renew();
  }

  /** The connection is still there, however slow. */
  renew(): void {
    this.#lossless?.renew();
  }

  /** The client was answered a read up to `seq`. One that is not up to date goes on reading. */
  wasRead(seq: Seq): void {
    if (seq >= this.#missedSeq) this.#missedSeq = 0;
    if (!this.#isWaiting || seq < this.#reader.cursor.afterSeq) return;
    this.#reader.cursor = new Cursor(this.log, seq);
    this.goLive();
  }

  /** The client does not read what it missed: it gets what has come since it is back. */
  goLive(): void {
    this.#isWaiting = false;
    this.pump();
  }

  /** Pushes what there is and there is room for. */
  pump(): void {
    this.#reader.run();
  }

  #push(delivery: Delivery): void {
    const target = this.#target as FeedTarget;
    if (delivery.type === "gap") return this.#break();
    target.push(this, this.#text.notification(delivery, target.allocate));
  }

  #break(): void {
    const target = this.#target;
    // Once: who comes back reads what there is, also why there is no more.
    this.#release();
    target?.broken();
  }

  #release(): void {
    this.#reader.stop();
    this.#lossless?.release();
    this.#lossless = undefined;
  }
}
