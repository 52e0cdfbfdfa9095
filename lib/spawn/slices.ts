// Long work on the main loop, in slices: a generator yields wherever it may be interrupted. Who cannot wait has it finished
// at once, so that both share the code.

/** Longest time that others wait: what a person or a prompt does not notice. One step of the work may exceed it. */
const SLICE_MS = 4;

/** Does all of it now. */
export function finish<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Does it slice by slice, with a turn of the event loop in between. */
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
