// One call's reading of a log: takes all that comes into a window, and decides when it is time to answer.
//
//   open --deadline, or quiet--> exiting --earlyExitMs--> answer     "still running" is not said of what ends just now
//     \----------exit-----------> draining --drainMs-----> answer     the streams end now, unless somebody holds them
//   the end of the log, its failure, or a hurry: the answer at once
import type { Cancel, Clock } from "../clock.ts";
import type { Cursor } from "../log/cursor.ts";
import type { LogView } from "../log/log-view.ts";
import type { OutputWindow } from "./output-window.ts";

/** How a call reads. */
export interface CollectingOptions {
  readonly view: LogView;
  /** Advances past what is collected. */
  readonly cursor: Cursor;
  readonly window: OutputWindow;
  readonly clock: Clock;
  /** Aborted when the call has waited long enough. */
  readonly deadline: AbortSignal;
  /** Aborted when somebody else wants to read, or nobody wants the answer any more. */
  readonly hurry: AbortSignal;
  readonly quietMs: number | undefined;
  readonly earlyExitMs: number;
  readonly drainMs: number;
  /** The caller knows of the exit: what it waits for is the rest of the output. */
  readonly exitWasTold: boolean;
}

type Phase = "open" | "exiting" | "draining";

/** Reads until there is an answer. */
export class Collecting {
  readonly #options: CollectingOptions;
  #phase: Phase = "open";
  #isOver = false;
  #cancelTimer: Cancel | undefined;
  #resolve: () => void = () => undefined;

  constructor(options: CollectingOptions) {
    this.#options = options;
  }

  /** Resolves when there is an answer. */
  async run(): Promise<void> {
    const { view, deadline, hurry } = this.#options;
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    const onDeadline = () => this.#waitForExit();
    const onHurry = () => this.#answer();
    const stop = view.onAppend(() => this.#look());
    deadline.addEventListener("abort", onDeadline);
    hurry.addEventListener("abort", onHurry);
    this.#look();
    if (deadline.aborted) onDeadline();
    if (hurry.aborted) onHurry();
    await over;
    stop();
    deadline.removeEventListener("abort", onDeadline);
    hurry.removeEventListener("abort", onHurry);
  }

  #answer(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#resolve();
  }

  #look(): void {
    if (this.#isOver) return;
    const { view, cursor, quietMs, exitWasTold, drainMs } = this.#options;
    const hasOutput = this.#take();
    const isAtEnd = view.closed && cursor.afterSeq >= view.headSeq;
    if (isAtEnd || view.failure) return this.#answer();
    const hasExited = view.exited !== undefined && cursor.afterSeq >= view.exited.seq;
    if (hasExited && !exitWasTold) return this.#enter("draining", drainMs);
    if (!hasOutput || quietMs === undefined || this.#phase !== "open") return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(quietMs, () => this.#waitForExit());
  }

  /** Everything that is there. Says whether it was output. */
  #take(): boolean {
    const { cursor, window } = this.#options;
    let hasOutput = false;
    for (let delivery = cursor.next(); delivery && delivery !== "loading"; delivery = cursor.next()) {
      if (delivery.type === "output") window.add(delivery.stream, delivery.chunk);
      if (delivery.type === "gap") window.lose(delivery.bytes);
      hasOutput ||= delivery.type === "output" || delivery.type === "gap";
    }
    return hasOutput;
  }

  #waitForExit(): void {
    if (this.#phase !== "open") return;
    if (this.#options.exitWasTold) this.#answer();
    else this.#enter("exiting", this.#options.earlyExitMs);
  }

  /** Goes on to a phase, whose end is the answer. */
  #enter(phase: Phase, ms: number): void {
    if (this.#phase === phase) return;
    this.#phase = phase;
    this.#cancelTimer?.();
    if (ms <= 0) this.#answer();
    else this.#cancelTimer = this.#options.clock.after(ms, () => this.#answer());
  }
}
