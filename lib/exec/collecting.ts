// One call's reading of a log: takes all that comes into a window, and decides when it is time to answer.
//
//   open --deadline, or quiet--> exiting --earlyExitMs--> answer     "still running" is not said of what ends just now
//     \----------exit-----------> draining --drainMs-----> answer     the streams end now, unless somebody holds them
//   the end of the log, its failure, or a hurry: the answer at once

import type { Delivery } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { Cursor } from "../log/cursor.ts";
import { Reader } from "../log/reader.ts";
import type { OutputWindow } from "./output-window.ts";

/** How a call reads. */
export interface CollectingOptions {
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
  /** Output came, or was lost, since the last look. */
  #hasOutput = false;
  #cancelTimer: Cancel | undefined;
  #resolve: () => void = () => undefined;

  constructor(options: CollectingOptions) {
    this.#options = options;
  }

  /** Resolves when there is an answer. */
  async run(): Promise<void> {
    const { cursor, deadline, hurry } = this.#options;
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    const onDeadline = () => this.#waitForExit();
    const onHurry = () => this.#answer();
    const reader = new Reader(cursor, {
      hasRoom: () => !this.#isOver,
      take: (delivery) => this.#take(delivery),
      end: () => this.#answer(),
      afterRun: () => this.#look(),
    });
    deadline.addEventListener("abort", onDeadline);
    hurry.addEventListener("abort", onHurry);
    reader.start();
    if (deadline.aborted) onDeadline();
    if (hurry.aborted) onHurry();
    await over;
    reader.stop();
    deadline.removeEventListener("abort", onDeadline);
    hurry.removeEventListener("abort", onHurry);
  }

  #answer(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#resolve();
  }

  #take(delivery: Delivery): void {
    const { window } = this.#options;
    if (delivery.type === "output") window.add(delivery.stream, delivery.chunk);
    if (delivery.type === "gap") window.lose(delivery.bytes);
    this.#hasOutput ||= delivery.type === "output" || delivery.type === "gap";
  }

  /** Everything that is there was taken. */
  #look(): void {
    if (this.#isOver) return;
    const { cursor, quietMs, exitWasTold, drainMs } = this.#options;
    const { exited } = cursor.view;
    const hasOutput = this.#hasOutput;
    this.#hasOutput = false;
    if (exited && cursor.afterSeq >= exited.seq && !exitWasTold) return this.#enter("draining", drainMs);
    if (!hasOutput || quietMs === undefined || this.#phase !== "open") return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(quietMs, () => this.#waitForExit());
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
