// A single fact of a log as an observable: there already, or still to come. Replays nothing and meets no gap.
import { GuardedObservable, type ReportError, reportToConsole } from "./guarded-observable.ts";
import type { LogView } from "./log-view.ts";

/** Emits what `pick` finds, once it finds something, and completes; fails with the log's failure when it never will. */
export function awaitEvent<T>(
  view: LogView,
  pick: (view: LogView) => T | undefined,
  report: ReportError = reportToConsole,
): GuardedObservable<T> {
  return new GuardedObservable(report, (subscriber) => {
    const check = () => {
      const found = pick(view);
      if (found !== undefined) {
        subscriber.next(found);
        subscriber.complete();
      } else if (view.failure) {
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
