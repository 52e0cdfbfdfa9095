// Mutual exclusion for asynchronous tasks.

/** Runs tasks one at a time, in the order of the calls; the next one runs also after a failure. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when all tasks so far have settled. */
  get settled(): Promise<void> {
    return this.#last;
  }

  /** Runs `task` when all earlier tasks have settled. Settles as the task does. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    // Without the result, which may be large and would stay in memory until the next task.
    const discard = () => undefined;
    this.#last = result.then(discard, discard);
    return result;
  }
}
