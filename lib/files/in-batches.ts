// Runs an operation on many items, a batch at a time.

/** Enough to keep libuv's threads busy, and few enough that no queue builds up. */
const BATCH = 16;

/** Calls `work` for each item; results are in the order of items. On a failure, rejects once the current batch has settled. */
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
