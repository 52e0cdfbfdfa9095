// Calls that end with their connection. Each has its own signal: Node reports thousands of listeners on one signal as a leak
// (MaxListenersExceededWarning), and removing a listener takes time linear in their number.

/** Runs calls, and aborts those that are still running at the end. */
export class PendingCalls {
  readonly #calls = new Set<AbortController>();
  #end: { readonly reason: unknown } | undefined;

  /** `signal` is aborted when the connection ends; at once, if it has ended already. */
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

  /** The connection has ended. */
  end(reason: unknown): void {
    this.#end = { reason };
    for (const controller of this.#calls) controller.abort(reason);
  }
}
