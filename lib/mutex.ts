// One at a time, in the order of the calls.

/** Runs tasks one after another; one that fails does not keep the next from running. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when all tasks so far are over. */
  get settled(): Promise<void> {
    return this.#last;
  }

  /** Runs `task` when all before it are over. Resolves and rejects as it does. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    // Not the result itself: it may be large, and it would stay until the next one.
    const nothing = () => undefined;
    this.#last = result.then(nothing, nothing);
    return result;
  }
}
