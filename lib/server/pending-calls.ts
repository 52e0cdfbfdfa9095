// Calls that end with their connection. Each has a signal of its own: thousands of listeners on one signal are a leak to
// Node (MaxListenersExceededWarning), and taking one of them off again costs as much as there are.

/** Runs calls until it ends. */
export class PendingCalls {
  readonly #calls = new Set<AbortController>();
  #end: { readonly reason: unknown } | undefined;

  /** `signal` is aborted when the connection is over. */
  async run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.#end) controller.abort(this.#end.reason);
    this.#calls.add(controller);
    try {
      return await call(controller.signal);
    } finally {
      this.#calls.delete(controller);
    }
  }

  /** The connection is over. */
  end(reason: unknown): void {
    this.#end = { reason };
    for (const controller of this.#calls) controller.abort(reason);
  }
}
