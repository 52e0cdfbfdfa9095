// Background jobs that ended processes have left running in their sessions. They keep running and end with the supervisor. A
// job that ends earlier is not noticed at once: the check inspects every process of the system, so it is rare.
import type { SignalName } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { KillTarget, Leftover } from "../spawn/child.ts";
import { Termination } from "./termination.ts";

/** Number of sessions at which empty ones are first removed; the next time at twice the number that was left. */
const FIRST_CHECK_AT = 1024;

/** The sessions of ended processes. */
export class LeftBehind implements KillTarget {
  readonly #clock: Clock;
  readonly #onEmpty: (pid: number) => void;
  readonly #leftovers = new Map<number, Leftover>();
  #nextCheckAt = FIRST_CHECK_AT;

  /** `onEmpty` is called with the pid of the leader of each added session that has become empty. */
  constructor(clock: Clock, onEmpty: (pid: number) => void) {
    this.#clock = clock;
    this.#onEmpty = onEmpty;
  }

  /** Adds the session of an ended process. */
  add(leftover: Leftover): void {
    this.#leftovers.set(leftover.pid, leftover);
    if (this.#leftovers.size >= this.#nextCheckAt) this.#removeEmpty();
  }

  /** A child was given this pid: the earlier session with that number must be empty, or the number would still be in use. */
  onPidReused(pid: number): void {
    this.#leftovers.delete(pid);
  }

  kill(signal: SignalName): void {
    let failure: unknown;
    for (const leftover of this.#leftovers.values()) {
      try {
        leftover.kill(signal, "tree");
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure) throw failure;
  }

  hasSurvivors(): boolean {
    this.#removeEmpty();
    return this.#leftovers.size > 0;
  }

  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when all have ended or cannot be ended. Rejects with SIGNAL_FAILED. */
  end(graceMs: number): Promise<void> {
    if (this.#leftovers.size === 0 || !this.hasSurvivors()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const attempt = (step: () => void) => {
        try {
          step();
        } catch (error) {
          reject(error);
        }
        if (!termination.isPending(this)) resolve();
      };
      const termination = new Termination(this.#clock, () => attempt(() => termination.proceed(this)));
      attempt(() => termination.begin(this, { reason: "terminate", graceMs, scope: "tree" }));
    });
  }

  #removeEmpty(): void {
    for (const [pid, leftover] of this.#leftovers) {
      if (leftover.hasSurvivors("tree")) continue;
      this.#leftovers.delete(pid);
      this.#onEmpty(pid);
    }
    this.#nextCheckAt = Math.max(FIRST_CHECK_AT, 2 * this.#leftovers.size);
  }
}
