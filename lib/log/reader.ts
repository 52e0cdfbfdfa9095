// THE loop of every reader: what a cursor gives goes to a sink while that has room, and each append is a wake-up. Subscribers,
// iterators, agents' calls and the subscriptions of both protocols differ in their sinks only.
import type { ExecwireError } from "../errors.ts";
import type { Cursor, Taker } from "./cursor.ts";

/** Where a reader puts what it reads. */
export interface Sink extends Taker {
  /** Nothing follows: all of a closed log was taken, or there will be no more than was taken, for the reason given. */
  end(failure: ExecwireError | undefined): void;
  /** All that there was room for was taken, and more may follow. */
  afterRun?(): void;
}

/** Reads a log from the place of a cursor on. */
export class Reader {
  /** The place; may be replaced by another one in the same log. */
  cursor: Cursor;
  readonly #sink: Sink;
  #stop: (() => void) | undefined;
  #isRunning = false;
  #isOver = false;

  constructor(cursor: Cursor, sink: Sink) {
    this.cursor = cursor;
    this.#sink = sink;
  }

  /** Reads what there is; from here on each append is a wake-up. */
  start(): void {
    this.#isOver = false;
    // Before the first look: a follower brings back what was evicted only while its log is read.
    this.#stop ??= this.cursor.view.onAppend(() => this.run());
    this.run();
  }

  /** Reads what there is. To be called when there is room again. */
  run(): void {
    // A sink may cause an append, or room, while it takes something; the running loop sees both.
    if (this.#isRunning || this.#isOver) return;
    const isEmpty = this.#drain();
    const { view, afterSeq } = this.cursor;
    if (this.#isOver) return;
    const isAtEnd = view.closed && afterSeq >= view.headSeq;
    if (!isAtEnd && !(isEmpty && view.failure)) return this.#sink.afterRun?.();
    this.stop();
    this.#sink.end(isAtEnd ? undefined : view.failure);
  }

  /** Reads nothing any more; the place stays. */
  stop(): void {
    this.#isOver = true;
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Says whether there is nothing left for now. */
  #drain(): boolean {
    this.#isRunning = true;
    try {
      return this.cursor.drain(this.#sink) === "empty";
    } finally {
      this.#isRunning = false;
    }
  }
}
