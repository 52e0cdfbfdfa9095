// One call's reading of a log: takes all that comes into a window, and decides when it is time to answer.
//
//   open --deadline, or quiet--> exiting --earlyExitMs--> answer     "still running" is not said of what ends just now
//     \----------exit-----------> draining --drainMs-----> answer     the streams end now, unless somebody holds them
//   the end of the log, its failure, or a hurry: the answer at once
import type { Delivery } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { LogView } from "../log/log-view.ts";
import type { OutputWindow } from "./output-window.ts";

/** A position in a log: what was read of it, and how many bytes that were, where known. */
export interface Place {
  readonly afterSeq: number;
  readonly offset: number | undefined;
}

/** How a call reads. */
export interface CollectingOptions {
  readonly view: LogView;
  readonly from: Place;
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
  #place: Place;
  #phase: Phase = "open";
  #isOver = false;
  #cancelTimer: Cancel | undefined;
  #resolve: () => void = () => undefined;

  constructor(options: CollectingOptions) {
    this.#options = options;
    this.#place = options.from;
  }

  /** Resolves with the position up to which it has read. */
  async run(): Promise<Place> {
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
    return this.#place;
  }

  #answer(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#resolve();
  }

  #look(): void {
    if (this.#isOver) return;
    const { view, quietMs, exitWasTold, drainMs } = this.#options;
    const hasOutput = this.#take();
    const isAtEnd = view.closed && this.#place.afterSeq >= view.headSeq;
    if (isAtEnd || view.failure) return this.#answer();
    const hasExited = view.exited !== undefined && this.#place.afterSeq >= view.exited.seq;
    if (hasExited && !exitWasTold) return this.#enter("draining", drainMs);
    if (!hasOutput || quietMs === undefined || this.#phase !== "open") return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(quietMs, () => this.#waitForExit());
  }

  /** Everything that is there. Says whether it was output. */
  #take(): boolean {
    let hasOutput = false;
    for (let delivery = this.#next(); delivery; delivery = this.#next()) {
      if (delivery.type === "output") this.#options.window.add(delivery.stream, delivery.chunk);
      if (delivery.type === "gap") this.#options.window.lose(delivery.bytes);
      hasOutput ||= delivery.type === "output" || delivery.type === "gap";
    }
    return hasOutput;
  }

  #next(): Delivery | undefined {
    const { view } = this.#options;
    const { afterSeq, offset } = this.#place;
    const delivery = view.next(afterSeq);
    if (delivery === undefined || delivery === "loading") return undefined;
    if (delivery.type === "gap") {
      const after = view.offsetAfter(delivery.lastSeq);
      this.#place = { afterSeq: delivery.lastSeq, offset: after };
      const bytes = after !== undefined && offset !== undefined ? after - offset : delivery.bytes;
      return bytes === undefined ? delivery : { ...delivery, bytes };
    }
    const added = delivery.type === "output" ? delivery.chunk.length : 0;
    this.#place = { afterSeq: delivery.seq, offset: offset === undefined ? undefined : offset + added };
    return delivery;
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
