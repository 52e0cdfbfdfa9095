// Long work on the event loop, in slices: a generator yields wherever it may be interrupted. Synchronous callers run the same
// generator to its end at once.

/** Longest slice: a delay that a user does not notice. A single step may exceed it. */
const SLICE_MS = 4;

/** Runs the work to its end synchronously. */
export function finish<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Runs the work slice by slice, with a turn of the event loop between slices. */
export async function finishInSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
