// When a run is over, apart from its streams ending by themselves. Time and the caller's signal decide; what to do about it is
// the run's.
//
//   running --exit known--> draining --silent for drainMs, or after drainDeadlineMs--> over
//      |                      ^
//      +--timeout, abort--> expired --exit known--+
//                              +--no exit after graceMs + drainDeadlineMs--> over
import { MAX_TIMER_MS } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { RunPlan } from "./options.ts";

/** Why a run was ended before its time. */
export type Expiry = "timeout" | "abort";

/** How the wait for the streams ended: with all streams, in silence, or at the last moment. */
export type Drain = "eof" | "idle" | "deadline";

/** What an ending needs and whom it tells. */
export interface EndingOptions extends RunPlan {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The command must end now. */
  readonly onExpired: () => void;
  /** Nobody waits any longer. */
  readonly onOver: () => void;
}

/** Watches over the end of one run. */
export class Ending {
  readonly #options: EndingOptions;
  #expiry: Expiry | undefined;
  #drain: Drain = "eof";
  #hasExited = false;
  #timeout: Cancel | undefined;
  #idle: Cancel | undefined;
  #deadline: Cancel | undefined;
  readonly #onAbort = () => this.#expire("abort");

  constructor(options: EndingOptions) {
    this.#options = options;
  }

  get expiry(): Expiry | undefined {
    return this.#expiry;
  }

  get drain(): Drain {
    return this.#drain;
  }

  /** From here on time counts. */
  begin(): void {
    const { signal, timeoutMs, clock } = this.#options;
    if (signal?.aborted) return this.#expire("abort");
    signal?.addEventListener("abort", this.#onAbort);
    if (timeoutMs !== null) this.#timeout = clock.after(timeoutMs, () => this.#expire("timeout"));
  }

  /** The exit is known: the timeout has lost its object. */
  exited(): void {
    const { clock, drainDeadlineMs } = this.#options;
    this.#hasExited = true;
    this.#timeout?.();
    this.#deadline?.();
    this.#deadline = clock.after(drainDeadlineMs, () => this.#over("deadline"));
    this.#watchSilence();
  }

  /** There was output. */
  heard(): void {
    if (this.#hasExited) this.#watchSilence();
  }

  /** Forgets everything that is still to come. */
  dispose(): void {
    for (const cancel of [this.#timeout, this.#idle, this.#deadline]) cancel?.();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }

  #watchSilence(): void {
    const { clock, drainMs } = this.#options;
    this.#idle?.();
    this.#idle = clock.after(drainMs, () => {
      // A program that was busy all the time runs its timers before it reads: look once more.
      this.#idle = clock.after(0, () => this.#over("idle"));
    });
  }

  #expire(why: Expiry): void {
    if (this.#expiry) return;
    const { clock, graceMs, drainDeadlineMs, onExpired } = this.#options;
    this.#expiry = why;
    this.#timeout?.();
    // Also a process that no signal ends, or a host that does not answer, must not hold the caller for ever.
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
