// Serializes the calls on one session, so that no two of them read the same output.
import { onAbort } from "../../abort.ts";

interface Waiter {
  readonly isUrgent: boolean;
  readonly enter: () => void;
}

/** A mutex with two priorities: urgent callers go before the others, each group in the order of the calls. */
export class PriorityMutex {
  readonly #waiting: Waiter[] = [];
  #isLocked = false;

  /** Resolves with true when the caller has the lock, until it calls `release`; with false if `signal` aborts before. */
  acquire(signal: AbortSignal, isUrgent: boolean): Promise<boolean> {
    if (!this.#isLocked) {
      this.#isLocked = true;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      const enter = () => {
        stop();
        resolve(true);
      };
      const waiter: Waiter = { isUrgent, enter };
      if (signal.aborted) return resolve(false);
      const stop = onAbort(signal, giveUp);
      const firstNormal = this.#waiting.findIndex((other) => !other.isUrgent);
      this.#waiting.splice(isUrgent && firstNormal >= 0 ? firstNormal : this.#waiting.length, 0, waiter);
    });
  }

  /** Passes the lock to the next caller. */
  release(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#isLocked = false;
  }
}
