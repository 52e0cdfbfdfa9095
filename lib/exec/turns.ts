// Lets the calls on one session in one at a time, so that no two of them read the same output.

interface Waiter {
  readonly isUrgent: boolean;
  readonly enter: () => void;
}

/** A door for one at a time. First come, first served, but for urgent callers, who go before those that are not. */
export class Turns {
  readonly #waiting: Waiter[] = [];
  #isTaken = false;

  /** True once it is the caller's turn, until it calls `leave`; false when `patience` is over before. */
  enter(patience: AbortSignal, isUrgent: boolean): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      const enter = () => {
        patience.removeEventListener("abort", giveUp);
        resolve(true);
      };
      const waiter: Waiter = { isUrgent, enter };
      if (patience.aborted) return resolve(false);
      patience.addEventListener("abort", giveUp, { once: true });
      const patient = this.#waiting.findIndex((other) => !other.isUrgent);
      this.#waiting.splice(isUrgent && patient >= 0 ? patient : this.#waiting.length, 0, waiter);
    });
  }

  /** Lets the next one in. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next.enter();
    else this.#isTaken = false;
  }
}
