// A log pushed to a subscriber: replay, then live, by the same loop. A late subscriber is identical code.
import type { Delivery, Seq } from "../../protocol/index.ts";
import { Cursor } from "./cursor.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "./guarded-observable.ts";
import type { LogView } from "./log-view.ts";

/**
 * The events after `afterSeq`, with a gap for what is lost; completes after `closed`, fails with the log's failure. A
 * push subscriber takes each event as it comes, so it meets gaps only for what was evicted before it subscribed.
 */
export function observe(
  view: LogView,
  afterSeq: Seq = 0,
  report: ReportError = reportToConsole,
): GuardedObservable<Delivery> {
  return new GuardedObservable(report, (subscriber) => {
    const cursor = new Cursor(view, afterSeq);
    let draining = false;
    const drain = () => {
      // A subscriber may cause an append while it is being called; the running loop will see it.
      if (draining) return;
      draining = true;
      for (;;) {
        const delivery = subscriber.closed ? undefined : cursor.next();
        if (delivery === undefined || delivery === "loading") break;
        subscriber.next(delivery);
      }
      draining = false;
      if (subscriber.closed) return;
      if (view.failure) subscriber.error(view.failure);
      // Who already had `closed` before is at the end as well.
      else if (view.closed && cursor.afterSeq >= view.headSeq) subscriber.complete();
    };
    const stop = view.onAppend(drain);
    drain();
    if (!subscriber.closed) return stop;
    stop();
    return undefined;
  });
}
