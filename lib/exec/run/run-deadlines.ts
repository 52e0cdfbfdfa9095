// Decides when a run is over if its streams do not end: by timeout, by the caller's abort signal, or after the exit by silence or
// a deadline. The run itself acts on it.
//
//   running --exit known--> draining --silent for drainMs, or after drainDeadlineMs--> over
//      |                      ^
//      +--timeout, abort--> expired --exit known--+
//                              +--no exit after graceMs + drainDeadlineMs--> over

import { MAX_TIMER_MS } from "../../../protocol/index.ts";
import { onAbort } from "../../abort.ts";
import type { Cancel, Clock } from "../../clock.ts";
import type { RunPlan } from "./run-options.ts";

/** Why a run was ended early. */
export type Expiry = "timeout" | "abort";

/** How the wait for the streams ended: all streams ended, no output for `drainMs`, or `drainDeadlineMs` was over. */
export type Drain = "eof" | "idle" | "deadline";

/** The durations, the abort signal, and callbacks for both decisions. */
export interface RunDeadlinesOptions extends RunPlan {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Called when the command must be terminated. */
  readonly onExpired: () => void;
  /** Called when the run must stop waiting for the exit or the streams. */
  readonly onOver: () => void;
}

/** The timers and the abort signal of one run. */
export class RunDeadlines {
  readonly #options: RunDeadlinesOptions;
  #expiry: Expiry | undefined;
  #drain: Drain = "eof";
  #hasExited = false;
  #timeout: Cancel | undefined;
  #idle: Cancel | undefined;
  #deadline: Cancel | undefined;
  #stopListening: (() => void) | undefined;

  constructor(options: RunDeadlinesOptions) {
    this.#options = options;
  }

  get expiry(): Expiry | undefined {
    return this.#expiry;
  }

  get drain(): Drain {
    return this.#drain;
  }

  /** Starts the timeout, and listens to the abort signal. */
  start(): void {
    const { signal, timeoutMs, clock } = this.#options;
    if (signal?.aborted) return this.#expire("abort");
    this.#stopListening = onAbort(signal, () => this.#expire("abort"));
    if (timeoutMs !== null) this.#timeout = clock.after(timeoutMs, () => this.#expire("timeout"));
  }

  /** The exit is known: cancels the timeout and starts the drain timers. */
  onExit(): void {
    const { clock, drainDeadlineMs } = this.#options;
    this.#hasExited = true;
    this.#timeout?.();
    this.#deadline?.();
    this.#deadline = clock.after(drainDeadlineMs, () => this.#over("deadline"));
    this.#watchSilence();
  }

  /** Output arrived: restarts the silence timer. */
  onOutput(): void {
    if (this.#hasExited) this.#watchSilence();
  }

  /** Cancels all timers and removes the abort listener. */
  dispose(): void {
    for (const cancel of [this.#timeout, this.#idle, this.#deadline]) cancel?.();
    this.#stopListening?.();
  }

  #watchSilence(): void {
    const { clock, drainMs } = this.#options;
    this.#idle?.();
    this.#idle = clock.after(drainMs, () => {
      // If this program was busy, its timers run before pending reads: let it read once more.
      this.#idle = clock.after(0, () => this.#over("idle"));
    });
  }

  #expire(why: Expiry): void {
    if (this.#expiry) return;
    const { clock, graceMs, drainDeadlineMs, onExpired } = this.#options;
    this.#expiry = why;
    this.#timeout?.();
    // The caller must not wait forever for a process that survives SIGKILL, or a host that does not answer.
    const lastMs = Math.min(graceMs + drainDeadlineMs, MAX_TIMER_MS);
    if (!this.#hasExited) this.#deadline = clock.after(lastMs, () => this.#over("deadline"));
    onExpired();
  }

  #over(drain: Drain): void {
    this.dispose();
    this.#drain = drain;
    this.#options.onOver();
  }
}
