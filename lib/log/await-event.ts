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
    let told = false;
    const check = () => {
      const found = told ? undefined : pick(view);
      if (found !== undefined) {
        // The subscriber may cause an append, which leads here again.
        told = true;
        subscriber.next(found);
        subscriber.complete();
      } else if (view.failure && !told) {
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
