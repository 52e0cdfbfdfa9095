// A log pushed to a subscriber: replay, then live, by the same loop. A late subscriber is identical code.
import type { Delivery, Seq } from "../../protocol/index.ts";
import { Cursor } from "./cursor.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "./guarded-observable.ts";
import type { LogView } from "./log-view.ts";
import { Reader } from "./reader.ts";

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
    const reader = new Reader(new Cursor(view, afterSeq), {
      hasRoom: () => !subscriber.closed,
      take: (delivery) => subscriber.next(delivery),
      end: (failure) => (failure ? subscriber.error(failure) : subscriber.complete()),
    });
    reader.start();
    return () => reader.stop();
  });
}
