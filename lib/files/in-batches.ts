// Doing one thing to many items, some at a time.

/** Enough to keep the threads of file operations busy, and few enough that nothing piles up. */
const BATCH = 16;

/** Calls for each item, a batch at a time; the results keep their order. A failure ends it when its batch is done. */
export async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += BATCH) {
    const settled = await Promise.allSettled(items.slice(at, at + BATCH).map(work));
    for (const outcome of settled) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}
