// Pushes a log to a subscriber: the replay and the live events come from the same loop, however late it subscribes.
import type { Delivery, Seq } from "../../protocol/index.ts";
import { Cursor } from "./cursor.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "./guarded-observable.ts";
import type { LogView } from "./log-view.ts";
import { Reader } from "./reader.ts";

/**
 * The events after `afterSeq`, with a gap for lost ones; completes after `closed`, fails with the log's failure. A subscriber
 * receives each event at once, so gaps cover only events that were evicted before it subscribed, or that a copied log lost.
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
