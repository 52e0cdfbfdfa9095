// Writes the log of one process at an exec-server: puts the events in order, asks for what does not come, and tells what is lost.
//
// Invariants
// 1. The log accepts every seq once and in order, as an event or within a gap.
// 2. A hole never lasts: it is filled by later events, or by `process/read`.
// 3. There is at most one such question on its way; one that was lost with its connection is asked again by `resume`.
// 4. What an answer lacks may still be on its way: the server keeps 1 MiB, and more than that waits in a full socket. It is lost
//    when the window has overflowed, or when a second question, a while later, finds that nothing has come.
import type { ExitedEvent, GapNotice, ProcessEvent, Seq } from "../../../protocol/index.ts";
import { backoff } from "../../client/backoff.ts";
import type { Cancel, Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import { ReplayLog } from "../../log/replay-log.ts";
import type { RawEvent, ReadReply } from "./answers.ts";
import { recover } from "./recover.ts";
import { ReorderWindow } from "./reorder-window.ts";

/** A hole that is still open after this time is asked for: reordering is over within a few milliseconds. */
const HOLE_MS = 250;
/** The longest pause between two questions to a server that may follow a process for nobody. */
const LAST_DOUBT_MS = 5_000;
/** How far a lossless reader may fall behind while answers keep the connection flowing; then it is taken for gone. */
const LAG_BYTES = 64 * 1024 * 1024;

/** What a follower needs. */
export interface CodexFollowerOptions {
  readonly retainedBytes: number;
  readonly retainedEvents: number;
  /** How far a lossless reader may fall behind before the server is held back. */
  readonly windowBytes: number;
  readonly clock: Clock;
  /** Asks for what follows; calls one of them, or neither when the connection is lost. */
  readonly ask: (afterSeq: Seq, onReply: (reply: ReadReply) => void, onError: (error: ExecwireError) => void) => void;
  /** Whether nothing is read from the connection at the moment. */
  readonly isPaused: () => boolean;
  /** Says how a process ended. */
  readonly exitOf: (event: RawEvent & { readonly type: "exited" }) => ExitedEvent;
  /** The exit or the end is known, or there will be none. */
  readonly onChange: () => void;
  /** A lossless reader has fallen behind a window, or has caught up. */
  readonly onPressure: (full: boolean) => void;
}

/** Follows one process by notifications and reads, from its start to its end, whether it is read or not. */
export class CodexFollower {
  readonly log: ReplayLog;
  readonly #options: CodexFollowerOptions;
  readonly #window = new ReorderWindow();
  /** Until the start is confirmed, events wait in the window. */
  #hasBegun = false;
  /** There may be events before those in the window that nobody will tell. */
  #hasMissed = false;
  /** Pauses between questions while it is not certain that the server tells anything by itself. */
  #doubts: Generator<number, never> | undefined;
  /** More came than the window holds. */
  #hasOverflowed = false;
  /** Where the head was when an answer lacked what follows it. */
  #suspectSeq: Seq | undefined;
  /** Counts questions: the answer to an earlier one is out of date. */
  #round = 0;
  #isAsking = false;
  #holeTimer: Cancel | undefined;

  constructor(options: CodexFollowerOptions) {
    this.#options = options;
    const { retainedBytes, retainedEvents, windowBytes, onPressure } = options;
    this.log = new ReplayLog({ retainedBytes, retainedEvents, pauseAtBytes: windowBytes }, { onPressure });
    this.log.onAppend(() => this.#onAppended());
  }

  /**
   * The process runs: what came already is its beginning. One that was found on another connection than the one that asked for it
   * may be followed by nobody, so it is asked now and then until the server is seen to tell by itself.
   */
  begin(): void {
    this.#hasBegun = true;
    if (this.#hasMissed) this.#doubts = backoff(HOLE_MS, LAST_DOUBT_MS);
    if (this.#hasMissed || this.#hasOverflowed) this.#fill();
    this.#advance();
  }

  /** Takes a notification. */
  push(event: RawEvent): void {
    this.#doubts = undefined;
    if (this.#isOver || event.seq <= this.log.headSeq) return;
    if (this.#hasBegun && event.seq === this.log.headSeq + 1) this.#accept(event);
    else if (!this.#window.put(event)) {
      // All of it is in the answer to a read.
      this.#hasOverflowed = true;
      if (this.#hasBegun) this.#fill();
    }
    this.#advance();
  }

  /** On a new connection: what happened meanwhile was told to nobody. */
  resume(): void {
    this.#isAsking = false;
    this.#hasMissed = true;
    this.#doubts = undefined;
    if (this.#hasBegun) this.#fill();
  }

  /** Nothing will come any more. */
  fail(error: ExecwireError): void {
    this.#holeTimer?.();
    this.#window.clear();
    this.log.fail(error);
  }

  get #isOver(): boolean {
    return this.log.closed || this.log.failure !== undefined;
  }

  /** Accepts what is next, and watches over what is not. */
  #advance(): void {
    if (!this.#hasBegun || this.#isOver) return;
    const before = this.log.headSeq;
    for (let event = this.#window.take(before + 1); event; event = this.#window.take(this.log.headSeq + 1)) {
      this.#accept(event);
    }
    if (this.log.headSeq > before || (this.#window.size === 0 && this.#suspectSeq === undefined)) {
      this.#holeTimer?.();
      this.#holeTimer = undefined;
    }
    if (this.#window.size > 0) this.#watch();
  }

  #onHole(): void {
    this.#holeTimer = undefined;
    if (this.#options.isPaused()) this.#watch();
    else this.#fill();
  }

  #watch(ms: number = HOLE_MS): void {
    this.#holeTimer ??= this.#options.clock.after(ms, () => this.#onHole());
  }

  #fill(): void {
    if (this.#isAsking || this.#isOver) return;
    this.#isAsking = true;
    this.#round += 1;
    const round = this.#round;
    this.#options.ask(
      this.log.headSeq,
      (reply) => {
        if (round !== this.#round || this.#isOver) return;
        this.#isAsking = false;
        this.#take(reply);
      },
      (error) => {
        if (round === this.#round) this.fail(error);
      },
    );
  }

  #take(reply: ReadReply): void {
    const { headSeq, exited } = this.log;
    const events = recover(reply, headSeq, exited !== undefined, this.#window);
    // Invariant 4.
    if (!this.#hasOverflowed && this.#suspectSeq !== headSeq && events.some(({ type }) => type === "gap")) {
      this.#suspectSeq = headSeq;
      return this.#watch();
    }
    this.#hasOverflowed = false;
    this.#suspectSeq = undefined;
    for (const event of events) {
      if (this.#isOver) return;
      if (event.type === "closed" && reply.failure !== undefined && !this.log.exited) {
        return this.fail(new ExecwireError("INTERNAL", `the server failed: ${reply.failure}`));
      }
      this.#accept(event);
    }
    this.#window.dropThrough(this.log.headSeq);
    this.#advance();
    if (this.#doubts && !this.#isOver) this.#watch(this.#doubts.next().value);
  }

  #accept(event: RawEvent | GapNotice): void {
    // Readers may wait for answers, so the connection can flow although one of them is behind.
    const readSeq = this.log.holds.floor();
    if (this.log.bytesAfter(readSeq) >= LAG_BYTES) this.log.holds.drop(readSeq);
    if (this.log.accept(this.#eventOf(event))) return;
    const message = `the server told ${event.type} of a process where it cannot be: a second exit, or an end without one`;
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
