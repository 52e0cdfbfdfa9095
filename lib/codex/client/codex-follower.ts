// Keeps the log of one process at an exec-server: orders the events, reads missing ones, and announces lost ones as gaps.
//
// Invariants
// 1. The log accepts every seq once and in order, as an event or within a gap.
// 2. A hole never lasts: it is filled by later events, or by `process/read`.
// 3. At most one such read is pending; if its connection is lost, `resume` repeats it.
// 4. Events that a reply lacks may still be on their way: the server keeps 1 MiB, and more than that waits in a full socket. They
//    are lost if the window has overflowed, or if a second read, a while later, finds that none has arrived.
import type { ExitedEvent, GapNotice, ProcessEvent, Seq } from "../../../protocol/index.ts";
import { backoff } from "../../client/backoff.ts";
import type { Cancel, Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import { ReplayLog } from "../../log/replay-log.ts";
import type { RawEvent, ReadReply } from "./answers.ts";
import { recover } from "./recover.ts";
import { ReorderWindow } from "./reorder-window.ts";

/** A hole that is still open after this time is filled by a read: reordering is over within a few milliseconds. */
const HOLE_MS = 250;
/** Longest pause between two polls of a server that may not push the events of the process. */
const LAST_POLL_MS = 5_000;
/** Output that a lossless reader may leave unread while replies keep the connection flowing; above it, it is considered dead. */
const LAG_BYTES = 64 * 1024 * 1024;

/** Bounds of the log, and the connection as the follower uses it. */
export interface CodexFollowerOptions {
  readonly retainedBytes: number;
  readonly retainedEvents: number;
  /** Output that a lossless reader may leave unread before the server is paused. */
  readonly windowBytes: number;
  readonly clock: Clock;
  /** Reads the events after `afterSeq`. Calls one of the callbacks, or none if the connection is lost. */
  readonly read: (afterSeq: Seq, onReply: (reply: ReadReply) => void, onError: (error: ExecwireError) => void) => void;
  /** Whether reading from the connection is paused. */
  readonly isPaused: () => boolean;
  /** Makes the exit event of a notification. */
  readonly exitOf: (event: RawEvent & { readonly type: "exited" }) => ExitedEvent;
  /** The exit or the end is in the log, or the log has failed. */
  readonly onChange: () => void;
  /** A lossless reader has fallen a window behind (true) or has caught up (false). */
  readonly onPressure: (full: boolean) => void;
}

/** Follows one process by notifications and reads from its start to its end, also without readers. */
export class CodexFollower {
  readonly log: ReplayLog;
  readonly #options: CodexFollowerOptions;
  readonly #window = new ReorderWindow();
  /** The start is confirmed. Until then events wait in the window. */
  #hasBegun = false;
  /** There was a new connection: the server may have sent events that did not arrive, and may not push any more. */
  #hasMissed = false;
  /** Pauses between polls while it is not certain that the server pushes events. */
  #polls: Generator<number, never> | undefined;
  /** More events arrived than the window holds. */
  #hasOverflowed = false;
  /** The head when a reply lacked the events after it; they may still arrive (invariant 4). */
  #unconfirmedGapAfter: Seq | undefined;
  /** Number of the last read: the reply to an earlier one is out of date. */
  #round = 0;
  #isReading = false;
  #holeTimer: Cancel | undefined;
  /** Pending from the loss of a connection until everything that the server sent in the meantime is in the log. */
  #recovery: { readonly over: Promise<void>; finish(): void } | undefined;

  constructor(options: CodexFollowerOptions) {
    this.#options = options;
    const { retainedBytes, retainedEvents, windowBytes, onPressure } = options;
    this.log = new ReplayLog({ retainedBytes, retainedEvents, pauseAtBytes: windowBytes }, { onPressure });
    this.log.onAppend(() => this.#onAppended());
  }

  /**
   * The start is confirmed: events that came already are the beginning. If it was confirmed on another connection than the
   * request was sent on, the server may not push events: poll until the first one is pushed.
   */
  begin(): void {
    this.#hasBegun = true;
    if (this.#hasMissed) this.#polls = backoff(HOLE_MS, LAST_POLL_MS);
    if (this.#hasMissed || this.#hasOverflowed) this.#fill();
    this.#advance();
  }

  /** Adds a notification. */
  push(event: RawEvent): void {
    this.#polls = undefined;
    if (this.#isOver || event.seq <= this.log.headSeq) return;
    if (this.#hasBegun && event.seq === this.log.headSeq + 1) this.#accept(event);
    else if (!this.#window.put(event)) {
      // A read returns all of it.
      this.#hasOverflowed = true;
      if (this.#hasBegun) this.#fill();
    }
    this.#advance();
  }

  /** Pending while the log may lack what was printed since a connection was lost. */
  get recovered(): Promise<void> | undefined {
    return this.#recovery?.over;
  }

  /** To be called when the connection is lost. */
  suspend(): void {
    if (this.#recovery || this.#isOver) return;
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#recovery = { over, finish };
  }

  /** To be called on a new connection: what the server sent in the meantime is lost. */
  resume(): void {
    this.#isReading = false;
    this.#hasMissed = true;
    this.#polls = undefined;
    if (this.#hasBegun) this.#fill();
  }

  /** Ends the log with `error`. */
  fail(error: ExecwireError): void {
    this.#holeTimer?.();
    this.#window.clear();
    this.log.fail(error);
    this.#finishRecovery();
  }

  get #isOver(): boolean {
    return this.log.closed || this.log.failure !== undefined;
  }

  /** Accepts the next events in the window; if others remain, waits for the hole before them. */
  #advance(): void {
    if (!this.#hasBegun || this.#isOver) return;
    const before = this.log.headSeq;
    for (let event = this.#window.take(before + 1); event; event = this.#window.take(this.log.headSeq + 1)) {
      this.#accept(event);
    }
    if (this.log.headSeq > before || (this.#window.size === 0 && this.#unconfirmedGapAfter === undefined)) {
      this.#holeTimer?.();
      this.#holeTimer = undefined;
    }
    if (this.#window.size > 0) this.#waitForHole();
  }

  #onHole(): void {
    this.#holeTimer = undefined;
    if (this.#options.isPaused()) this.#waitForHole();
    else this.#fill();
  }

  #waitForHole(ms: number = HOLE_MS): void {
    this.#holeTimer ??= this.#options.clock.after(ms, () => this.#onHole());
  }

  #fill(): void {
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    this.#round += 1;
    const round = this.#round;
    this.#options.read(
      this.log.headSeq,
      (reply) => {
        if (round !== this.#round || this.#isOver) return;
        this.#isReading = false;
        this.#addReply(reply);
      },
      (error) => {
        if (round === this.#round) this.fail(error);
      },
    );
  }

  #addReply(reply: ReadReply): void {
    const { headSeq, exited } = this.log;
    const events = recover(reply, headSeq, exited !== undefined, this.#window);
    // Invariant 4.
    if (!this.#hasOverflowed && this.#unconfirmedGapAfter !== headSeq && events.some(({ type }) => type === "gap")) {
      this.#unconfirmedGapAfter = headSeq;
      return this.#waitForHole();
    }
    this.#hasOverflowed = false;
    this.#unconfirmedGapAfter = undefined;
    for (const event of events) {
      if (this.#isOver) return;
      if (event.type === "closed" && reply.failure !== undefined && !this.log.exited) {
        return this.fail(new ExecwireError("INTERNAL", `the server failed: ${reply.failure}`));
      }
      this.#accept(event);
    }
    this.#window.dropThrough(this.log.headSeq);
    this.#advance();
    this.#finishRecovery();
    if (this.#polls && !this.#isOver) this.#waitForHole(this.#polls.next().value);
  }

  #finishRecovery(): void {
    this.#recovery?.finish();
    this.#recovery = undefined;
  }

  #accept(event: RawEvent | GapNotice): void {
    // Replies are awaited on the same connection, so it may flow although a reader is behind.
    const readSeq = this.log.holds.floor();
    if (this.log.bytesAfter(readSeq) >= LAG_BYTES) this.log.holds.drop(readSeq);
    if (this.log.accept(this.#eventOf(event))) return;
    const message = `the server sent an impossible event ${event.type}: it is a second exit, or an end without an exit`;
    this.fail(new ExecwireError("PROTOCOL_VIOLATION", message));
  }

  #eventOf(event: RawEvent | GapNotice): ProcessEvent | GapNotice {
    if (event.type === "exited") return this.#options.exitOf(event);
    if (event.type === "closed") return { ...event, bytes: Object.freeze({ ...this.log.printed }) };
    return event;
  }

  #onAppended(): void {
    const { exited, closed, failure, headSeq } = this.log;
    if (closed || failure || exited?.seq === headSeq) this.#options.onChange();
  }
}
