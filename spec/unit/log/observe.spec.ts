// Pushing a log to subscribers: replayed and live events are one sequence, whenever a subscriber comes and whatever it does.
import { describe, expect, it } from "@jest/globals";
import { take } from "rxjs";
import { observe } from "../../../lib/log/observe.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { Delivery } from "../../../protocol/index.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";
import { closed, exited, gap, output, seen } from "../../support/transcript.ts";

/** Everything that a subscriber after `afterSeq` gets, including `done` or the failure. */
function record(log: ReplayLog, afterSeq = 0): unknown[] {
  const got: unknown[] = [];
  observe(log, afterSeq).subscribe({
    next: (delivery) => got.push(seen(delivery)),
    error: (error) => got.push(error),
    complete: () => got.push("done"),
  });
  return got;
}

describe("observing a log", () => {
  it("replays retained events, follows new ones, and completes after the end", () => {
    const log = new ReplayLog();
    print(log, "one");
    const got = record(log);
    expect(got).toEqual([output(1, "stdout", "one")]);
    print(log, "two", "stderr");
    exit(log);
    log.appendClosed();
    const bytes = { stdout: 3, stderr: 3 };
    const all = [output(1, "stdout", "one"), output(2, "stderr", "two"), exited(3), closed(4, bytes), "done"];
    expect(got).toEqual(all);
  });

  it("gives a subscriber after the end the same events as an early one", () => {
    const log = new ReplayLog();
    const early = record(log);
    print(log, "text");
    exit(log);
    print(log, "late");
    log.appendClosed();
    const all = [output(1, "stdout", "text"), exited(2), output(3, "stdout", "late"), closed(4, { stdout: 8 }), "done"];
    expect([early, record(log)]).toEqual([all, all]);
  });

  it("begins after the requested seq", () => {
    const log = new ReplayLog();
    for (const text of ["a", "b", "c"]) print(log, text);
    expect(record(log, 2)).toEqual([output(3, "stdout", "c")]);
  });

  it("completes at once for a subscriber that has already seen the end", () => {
    const log = new ReplayLog();
    exit(log);
    log.appendClosed();
    expect(record(log, 2)).toEqual(["done"]);
  });

  it("announces what was evicted before the subscription, around an exit that is never lost", () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    print(log, "aa");
    exit(log);
    for (const text of ["bbb", "c", "d"]) print(log, text);
    expect(record(log)).toEqual([
      gap(1, 1, 2),
      exited(2),
      gap(3, 3, 3),
      output(4, "stdout", "c"),
      output(5, "stdout", "d"),
    ]);
  });

  it("delivers in order the events that a subscriber causes itself", () => {
    const log = new ReplayLog();
    const seqs: number[][] = [[], []];
    observe(log).subscribe((delivery: Delivery) => {
      if (delivery.type !== "output") return;
      seqs[0]?.push(delivery.seq);
      if (delivery.seq < 4) print(log, "again");
    });
    observe(log).subscribe((delivery: Delivery) => delivery.type === "output" && seqs[1]?.push(delivery.seq));
    print(log, "first");
    expect(seqs).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
  });

  it("goes on as long as a subscriber causes more to be appended", () => {
    const log = new ReplayLog();
    let count = 0;
    observe(log).subscribe(() => {
      count += 1;
      if (count < 20_000) print(log, "again");
    });
    print(log, "first");
    expect(count).toBe(20_000);
  });

  it("ends with take(1), during the replay and live, and leaves no listener behind", () => {
    const log = new ReplayLog();
    print(log, "a");
    print(log, "b");
    const got: unknown[] = [];
    const sink = { next: (delivery: Delivery) => got.push(seen(delivery)), complete: () => got.push("done") };
    observe(log).pipe(take(1)).subscribe(sink);
    observe(log, 2).pipe(take(1)).subscribe(sink);
    print(log, "c");
    print(log, "d");
    expect(got).toEqual([output(1, "stdout", "a"), "done", output(3, "stdout", "c"), "done"]);
  });

  it("stops when a subscriber unsubscribes during an event", () => {
    const log = new ReplayLog();
    const seqs: number[] = [];
    const subscription = observe(log).subscribe((delivery) => {
      if (delivery.type === "output") seqs.push(delivery.seq);
      if (seqs.length === 2) subscription.unsubscribe();
    });
    for (const text of ["a", "b", "c"]) print(log, text);
    expect(seqs).toEqual([1, 2]);
  });

  it("fails with the log's failure after the last event, early and late", () => {
    const log = new ReplayLog();
    const early = record(log);
    print(log, "text");
    log.fail(cancelled);
    const all = [output(1, "stdout", "text"), cancelled];
    expect([early, record(log)]).toEqual([all, all]);
  });
});
