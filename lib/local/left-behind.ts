// What ended processes have left running in their sessions: background jobs. They live on beside the supervisor, and end with it.
// Whether one has ended by itself is not watched, since that takes a look at every process of the system.
import type { SignalName } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { KillTarget, Leftover } from "../spawn/child.ts";
import { Termination } from "./termination.ts";

/** So many sessions are kept before the first look which of them are empty; then twice as many as were left. */
const LOOK_AT = 1024;

/** The sessions of ended processes. */
export class LeftBehind implements KillTarget {
  readonly #clock: Clock;
  readonly #onEmpty: (pid: number) => void;
  readonly #leftovers = new Map<number, Leftover>();
  #lookAt = LOOK_AT;

  /** `onEmpty` is told of each session that was added and has ended, by the pid of its leader. */
  constructor(clock: Clock, onEmpty: (pid: number) => void) {
    this.#clock = clock;
    this.#onEmpty = onEmpty;
  }

  /** A process has ended. */
  add(leftover: Leftover): void {
    this.#leftovers.set(leftover.pid, leftover);
    if (this.#leftovers.size >= this.#lookAt) this.#look();
  }

  /** A child got this pid: no process is left in an earlier session of that number, or the number would be in use. */
  isReused(pid: number): void {
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
    this.#look();
    return this.#leftovers.size > 0;
  }

  /** SIGTERM, and SIGKILL after `graceMs`; resolves when all have ended, or cannot be ended. Rejects with SIGNAL_FAILED. */
  end(graceMs: number): Promise<void> {
    if (this.#leftovers.size === 0 || !this.hasSurvivors()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const act = (step: () => void) => {
        try {
          step();
        } catch (error) {
          reject(error);
        }
        if (!termination.isPending(this)) resolve();
      };
      const termination = new Termination(this.#clock, () => act(() => termination.proceed(this)));
      act(() => termination.begin(this, { reason: "terminate", graceMs, scope: "tree" }));
    });
  }

  #look(): void {
    for (const [pid, leftover] of this.#leftovers) {
      if (leftover.hasSurvivors("tree")) continue;
      this.#leftovers.delete(pid);
      this.#onEmpty(pid);
    }
    this.#lookAt = Math.max(LOOK_AT, 2 * this.#leftovers.size);
  }
}
