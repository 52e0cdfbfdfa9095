// Listening to the abort signals of callers. One signal may serve any number of calls: they share one listener, since Node warns
// of a leak at the eleventh.

/** The callers of one signal. */
class Callers {
  readonly #signal: AbortSignal;
  readonly #callbacks = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
  }

  add(run: () => void): () => void {
    // Wrapped, so that the same function can be added twice.
    const callback = () => run();
    this.#callbacks.add(callback);
    return () => {
      if (this.#callbacks.delete(callback) && this.#callbacks.size === 0) this.#end();
    };
  }

  readonly #onAbort = () => {
    this.#end();
    for (const callback of this.#callbacks) callback();
  };

  #end(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    callersOf.delete(this.#signal);
  }
}

const callersOf = new WeakMap<AbortSignal, Callers>();

/** Calls `run` when the signal is aborted from now on, until the function that it returns is called. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (!signal || signal.aborted) return () => undefined;
  let callers = callersOf.get(signal);
  if (!callers) {
    callers = new Callers(signal);
    callersOf.set(signal, callers);
  }
  return callers.add(run);
}

/** The promise, or a rejection with the signal's reason when it is aborted first. What the promise stands for goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const stop = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(stop);
  });
}
