// Observables whose subscribers may throw or have no error handler. rxjs turns both into an uncaughtException, which would let one
// viewer's bug, or a lost connection, end the supervisor and every process with it.
import { Observable, type Observer, type Operator, type Subscriber, Subscription } from "rxjs";

/** What is reported: an exception of a subscriber, or the failure of an observable whose subscriber has no error handler. */
export type ReportKind = "thrown" | "unhandled";

/** Receives what no subscriber handles. */
export type ReportError = (error: unknown, kind?: ReportKind) => void;

const ignore = (): void => undefined;

/** The default: the console, which every host of this library has. */
export const reportToConsole: ReportError = (error, kind) =>
  console.error(`execwire: ${KINDS[kind ?? "other"]}:`, error);

const KINDS = {
  thrown: "a subscriber threw",
  unhandled: "an observable failed, and its subscriber has no error handler",
  other: "a failure that belongs to no call",
} as const;

/**
 * An Observable that catches and reports what its subscribers throw, and keeps them subscribed. Operators keep the guard, since
 * `pipe` lifts into the same class: it protects the end of every chain that starts here.
 */
export class GuardedObservable<T> extends Observable<T> {
  /** Receives what the subscribers throw. */
  readonly report: ReportError;

  constructor(report: ReportError, subscribe?: (subscriber: Subscriber<T>) => (() => void) | undefined) {
    super(subscribe);
    this.report = report;
  }

  // rxjs calls `lift` for each operator of a pipe; without this override the first operator would lose the guard.
  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new GuardedObservable<R>(this.report);
    lifted.source = this;
    lifted.operator = operator as Operator<unknown, R>;
    return lifted;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // A Subscriber belongs to an rxjs operator; the end of that chain has its own guard.
    if (observerOrNext instanceof Subscription) return super.subscribe(observerOrNext as Partial<Observer<T>>);
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === "object" && observerOrNext
        ? observerOrNext
        : { next: observerOrNext ?? ignore, ...(error && { error }), complete: complete ?? ignore };
    return super.subscribe({
      next: (value) => this.#guard(() => observer.next?.(value)),
      error: (error) => {
        if (observer.error) this.#guard(() => observer.error?.(error));
        else this.report(error, "unhandled");
      },
      complete: () => this.#guard(() => observer.complete?.()),
    });
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.report(error, "thrown");
    }
  }
}

/** Gives `source` the guard of `origin`, for functions that lose it (`concat`, `defer`). */
export function guardLike<T>(origin: Observable<unknown>, source: Observable<T>): Observable<T> {
  return origin instanceof GuardedObservable ? guarded(origin.report, source) : source;
}

/** The values of `source`; `onSubscribe` is called before each subscription. */
export function guarded<T>(report: ReportError, source: Observable<T>, onSubscribe = ignore): GuardedObservable<T> {
  return new GuardedObservable(report, (subscriber) => {
    onSubscribe();
    const subscription = source.subscribe(subscriber);
    return () => subscription.unsubscribe();
  });
}
