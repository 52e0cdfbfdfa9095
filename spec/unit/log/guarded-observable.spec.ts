// A subscriber that throws must never end the program. rxjs rethrows what a subscriber throws from a timer, which
// ends the program; these specs see it through rxjs's own hook.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { config, filter, firstValueFrom, map, Subject } from "rxjs";
import { GuardedObservable } from "../../../lib/log/guarded-observable.ts";

let unhandled: unknown[] = [];
beforeEach(() => {
  unhandled = [];
  config.onUnhandledError = (error) => unhandled.push(error);
});
afterEach(() => {
  config.onUnhandledError = null;
});

/** rxjs rethrows from a timer, so after a timer of our own all of it is known. */
const rethrown = async () => {
  await new Promise((resolve) => setTimeout(resolve));
  return unhandled;
};

function guarded() {
  const source = new Subject<number>();
  const reports: unknown[] = [];
  const values$ = new GuardedObservable<number>(
    (error, kind) => reports.push(kind === "unhandled" ? `${error}, unhandled` : String(error)),
    (subscriber) => {
      const subscription = source.subscribe(subscriber);
      return () => subscription.unsubscribe();
    },
  );
  return { source, reports, values$ };
}

function fail(value: number): void {
  if (value === 1) throw new Error("a viewer's bug");
}

describe("a guarded observable", () => {
  it("reports what a subscriber throws, and keeps it and all others subscribed", async () => {
    const { source, reports, values$ } = guarded();
    const first: number[] = [];
    const second: number[] = [];
    values$.subscribe((value) => {
      first.push(value);
      fail(value);
    });
    values$.subscribe({ next: (value) => second.push(value) });
    for (const value of [0, 1, 2]) source.next(value);
    expect([first, second, reports]).toEqual([[0, 1, 2], [0, 1, 2], ["Error: a viewer's bug"]]);
    expect(await rethrown()).toEqual([]);
  });

  it("guards behind operators too", async () => {
    const { source, reports, values$ } = guarded();
    const got: number[] = [];
    const doubled$ = values$.pipe(map((value) => value * 2)).pipe(filter((value) => value > 0));
    doubled$.subscribe((value) => {
      got.push(value);
      fail(value / 2);
    });
    for (const value of [0, 1, 2]) source.next(value);
    expect([got, reports]).toEqual([[2, 4], ["Error: a viewer's bug"]]);
    expect(await rethrown()).toEqual([]);
  });

  it("passes what an operator throws to its subscriber as an error, as rxjs does", async () => {
    const { source, reports, values$ } = guarded();
    const errors: unknown[] = [];
    values$.pipe(map(fail)).subscribe({ error: (error) => errors.push(String(error)) });
    source.next(1);
    expect([errors, reports, source.observed]).toEqual([["Error: a viewer's bug"], [], false]);
    expect(await rethrown()).toEqual([]);
  });

  it("reports a failure that no subscriber handles", async () => {
    const { source, reports, values$ } = guarded();
    values$.subscribe();
    source.error(new Error("the log failed"));
    expect(reports).toEqual(["Error: the log failed, unhandled"]);
    expect(await rethrown()).toEqual([]);
  });

  it.each(["error", "complete"] as const)("guards the %s handler", async (ending) => {
    const { source, reports, values$ } = guarded();
    const bug = () => {
      throw new Error("a viewer's bug");
    };
    values$.subscribe({ [ending]: bug });
    if (ending === "error") source.error(new Error("the log failed"));
    else source.complete();
    expect(reports).toEqual(["Error: a viewer's bug"]);
    expect(await rethrown()).toEqual([]);
  });

  it("calls the methods of an observer object as its methods", () => {
    const { source, values$ } = guarded();
    class Viewer {
      readonly got: number[] = [];
      next(value: number): void {
        this.got.push(value);
      }
    }
    const viewer = new Viewer();
    values$.subscribe(viewer);
    source.next(5);
    expect(viewer.got).toEqual([5]);
  });

  it("works with firstValueFrom and feeds a subject", async () => {
    const { source, values$ } = guarded();
    const subject = new Subject<number>();
    const got: number[] = [];
    subject.subscribe((value) => got.push(value));
    values$.subscribe(subject);
    const first = firstValueFrom(values$);
    source.next(3);
    source.next(4);
    expect([await first, got]).toEqual([3, [3, 4]]);
  });

  it("stops its source when unsubscribed", () => {
    const { source, values$ } = guarded();
    values$.subscribe().unsubscribe();
    expect(source.observed).toBe(false);
  });
});
