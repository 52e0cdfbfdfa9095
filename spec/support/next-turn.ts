// Waits until everything that is due already has run.

/** Resolves after all pending promises and one round of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
