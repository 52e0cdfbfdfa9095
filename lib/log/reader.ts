// The loop that all readers share: it passes deliveries from a cursor to a sink while that has room, and each append wakes it.
// Subscribers, iterators, agents' calls and the subscriptions of both protocols differ only in their sinks.
import type { ExecwireError } from "../errors.ts";
import type { Cursor, Taker } from "./cursor.ts";

/** Receives what a reader reads. */
export interface Sink extends Taker {
  /** Nothing follows: a closed log was read to its end or, with `failure`, everything in a log that failed was read. */
  end(failure: ExecwireError | undefined): void;
  /** A run is over: the sink is full or everything was read, and more may follow. */
  afterRun?(): void;
}

/** Reads a log from the position of a cursor. */
export class Reader {
  /** May be replaced by another cursor of the same log. */
  cursor: Cursor;
  readonly #sink: Sink;
  #stop: (() => void) | undefined;
  #isRunning = false;
  #isOver = false;

  constructor(cursor: Cursor, sink: Sink) {
    this.cursor = cursor;
    this.#sink = sink;
  }

  /** Reads what is available, now and after each append. */
  start(): void {
    this.#isOver = false;
    // Before the first read: a follower fetches again what was evicted only while its log has readers.
    this.#stop ??= this.cursor.view.onAppend(() => this.run());
    this.run();
  }

  /** Reads what is available. To be called when the sink has room again. */
  run(): void {
    // A sink may cause an append, or make room, while it receives a delivery; the running loop sees both.
    if (this.#isRunning || this.#isOver) return;
    const isEmpty = this.#drain();
    const { view, afterSeq } = this.cursor;
    if (this.#isOver) return;
    const isAtEnd = view.closed && afterSeq >= view.headSeq;
    if (!isAtEnd && !(isEmpty && view.failure)) return this.#sink.afterRun?.();
    this.stop();
    this.#sink.end(isAtEnd ? undefined : view.failure);
  }

  /** Stops reading; the cursor keeps its position. */
  stop(): void {
    this.#isOver = true;
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Returns whether everything available was read. */
  #drain(): boolean {
    this.#isRunning = true;
    try {
      return this.cursor.drain(this.#sink) === "empty";
    } finally {
      this.#isRunning = false;
    }
  }
}
