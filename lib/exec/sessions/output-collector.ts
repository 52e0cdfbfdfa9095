// Reads a log for one call: collects output in a window, and decides when the call returns.
//
//   open --deadline, or quiet--> exiting --earlyExitMs--> return     a process that is about to exit is not reported as running
//     \----------exit-----------> draining --drainMs-----> return     the streams end now, unless another process has them open
//   the end of the log, its failure, or `hurry`: return at once

import type { Delivery } from "../../../protocol/index.ts";
import { onAbort } from "../../abort.ts";
import type { Cancel, Clock } from "../../clock.ts";
import type { Cursor } from "../../log/cursor.ts";
import { Reader } from "../../log/reader.ts";
import type { OutputWindow } from "./output-window.ts";

/** What a call reads, and when it returns. */
export interface OutputCollectorOptions {
  /** Advances past the collected output. */
  readonly cursor: Cursor;
  readonly window: OutputWindow;
  readonly clock: Clock;
  /** Aborted when the call has waited long enough. */
  readonly deadline: AbortSignal;
  /** Aborted when another call wants to read, or this call was cancelled. */
  readonly hurry: AbortSignal;
  readonly quietMs: number | undefined;
  readonly earlyExitMs: number;
  readonly drainMs: number;
  /** The exit was reported to the caller already, so it waits for the rest of the output. */
  readonly exitWasReported: boolean;
}

type Phase = "open" | "exiting" | "draining";

/** Collects output until the call should return. */
export class OutputCollector {
  readonly #options: OutputCollectorOptions;
  #phase: Phase = "open";
  #isOver = false;
  /** Output arrived, or was lost, since the last run of the reader. */
  #hasOutput = false;
  #cancelTimer: Cancel | undefined;
  #resolve: () => void = () => undefined;

  constructor(options: OutputCollectorOptions) {
    this.#options = options;
  }

  /** Resolves when the call should return. */
  async run(): Promise<void> {
    const { cursor, deadline, hurry } = this.#options;
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    const onDeadline = () => this.#waitForExit();
    const onHurry = () => this.#finish();
    const reader = new Reader(cursor, {
      hasRoom: () => !this.#isOver,
      take: (delivery) => this.#collect(delivery),
      end: () => this.#finish(),
      afterRun: () => this.#onCollected(),
    });
    const stops = [onAbort(deadline, onDeadline), onAbort(hurry, onHurry)];
    reader.start();
    if (deadline.aborted) onDeadline();
    if (hurry.aborted) onHurry();
    await over;
    reader.stop();
    for (const stop of stops) stop();
  }

  #finish(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#resolve();
  }

  #collect(delivery: Delivery): void {
    const { window } = this.#options;
    if (delivery.type === "output") window.add(delivery.stream, delivery.chunk);
    if (delivery.type === "gap") window.lose(delivery.bytes);
    this.#hasOutput ||= delivery.type === "output" || delivery.type === "gap";
  }

  /** Everything available was collected. */
  #onCollected(): void {
    if (this.#isOver) return;
    const { cursor, quietMs, exitWasReported, drainMs } = this.#options;
    const { exited } = cursor.view;
    const hasOutput = this.#hasOutput;
    this.#hasOutput = false;
    if (exited && cursor.afterSeq >= exited.seq && !exitWasReported) return this.#enter("draining", drainMs);
    if (!hasOutput || quietMs === undefined || this.#phase !== "open") return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(quietMs, () => this.#waitForExit());
  }

  #waitForExit(): void {
    if (this.#phase !== "open") return;
    if (this.#options.exitWasReported) this.#finish();
    else this.#enter("exiting", this.#options.earlyExitMs);
  }

  /** Enters a phase; the call returns at its end. */
  #enter(phase: Phase, ms: number): void {
    if (this.#phase === phase) return;
    this.#phase = phase;
    this.#cancelTimer?.();
    if (ms <= 0) this.#finish();
    else this.#cancelTimer = this.#options.clock.after(ms, () => this.#finish());
  }
}
