// One process as its Codex session follows it: a cursor that moves while a connection has room, and stands still without
// one. What a reader gets wrong: there is no queue. What the client has not taken is in the log.
//
//  detached --attach--> live          lossless: the child waits for a slow client
//     |  \--attach after a resume--> held --first read that is up to date, or a second--> live
//     +-- keeps up to `unreadBytes` after what was received; the child runs on
import type { Seq } from "../../../protocol/index.ts";
import { Cursor } from "../../log/cursor.ts";
import type { Hold, LogView } from "../../log/log-view.ts";
import { type Allocate, EventText } from "./event-text.ts";
import type { Sender } from "./receipts.ts";

/** Where events go. */
export interface FeedTarget {
  readonly hasRoom: boolean;
  /** Memory for a frame that will be pushed. */
  readonly allocate: Allocate;
  push(sender: Sender, frame: Uint8Array): void;
  /** Events are lost that this client has a right to: it must come back and read what is left. */
  broken(): void;
}

/** Pushes the events of a process to the connection of the moment. */
export class Feed implements Sender {
  readonly log: LogView;
  readonly #text: EventText;
  readonly #kept: Hold;
  #cursor: Cursor;
  #received: Seq = 0;
  #target: FeedTarget | undefined;
  #lossless: Hold | undefined;
  #stop: (() => void) | undefined;
  /** Nothing is pushed before the client has read, so that it meets no more than it can put in order. */
  #isHeld = false;

  constructor(processId: string, log: LogView, unreadBytes: number) {
    this.log = log;
    this.#text = new EventText(processId);
    this.#cursor = new Cursor(log);
    this.#kept = log.hold(() => this.#received, unreadBytes);
  }

  get sentSeq(): Seq {
    return this.#cursor.afterSeq;
  }

  /** Begins to push: from where it is, or, when the client has to read first what it missed, from here on. */
  attach(target: FeedTarget, { resumed }: { readonly resumed: boolean }): void {
    this.#target = target;
    this.#isHeld = resumed;
    if (resumed) this.#cursor = new Cursor(this.log, this.log.headSeq);
    this.#lossless = this.log.hold(() => this.#cursor.afterSeq);
    this.#stop = this.log.onAppend(() => this.pump());
    this.pump();
  }

  /** The connection is gone; the process goes on without being held back. */
  detach(): void {
    this.#target = undefined;
    this.#stop?.();
    this.#lossless?.release();
  }

  /** Nobody will follow any more. */
  end(): void {
    this.detach();
    this.#kept.release();
  }

  /** The client has answered everything up to `seq`, by a pong or by reading on from there. */
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
    if (!this.#isHeld || seq < this.#cursor.afterSeq) return;
    this.#cursor = new Cursor(this.log, seq);
    this.unhold();
  }

  /** The client does not read what it missed: it gets what has come since it is back. */
  unhold(): void {
    this.#isHeld = false;
    this.pump();
  }

  /** Pushes what there is and there is room for. */
  pump(): void {
    while (this.#target?.hasRoom && !this.#isHeld) {
      const delivery = this.#cursor.next();
      if (delivery === undefined || delivery === "loading") break;
      if (delivery.type === "gap") return this.#target.broken();
      this.#target.push(this, this.#text.notification(delivery, this.#target.allocate));
    }
    // The hold moves with the cursor.
    this.#lossless?.renew();
  }
}
