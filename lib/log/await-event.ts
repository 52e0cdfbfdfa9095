// Observes one fact of a log, such as its exit, without reading the log: nothing is replayed, and no gap can occur.
import { GuardedObservable, type ReportError, reportToConsole } from "./guarded-observable.ts";
import type { LogView } from "./log-view.ts";

/** Emits the first value that `pick` finds, now or after an append, and completes. Fails with the log's failure. */
export function awaitEvent<T>(
  view: LogView,
  pick: (view: LogView) => T | undefined,
  report: ReportError = reportToConsole,
): GuardedObservable<T> {
  return new GuardedObservable(report, (subscriber) => {
    let isEmitted = false;
    const check = () => {
      const found = isEmitted ? undefined : pick(view);
      if (found !== undefined) {
        // First, since the subscriber may cause an append, which calls `check` again.
        isEmitted = true;
        subscriber.next(found);
        subscriber.complete();
      } else if (view.failure && !isEmitted) {
        subscriber.error(view.failure);
      }
    };
    const stop = view.onAppend(check);
    check();
    if (!subscriber.closed) return stop;
    stop();
    return undefined;
  });
}
