// Observables whose subscribers may throw. rxjs turns an exception in a subscriber into an uncaughtException, which would
// let one viewer's bug end the supervisor and every process with it.
import { Observable, type Observer, type Operator, type Subscriber, Subscription } from "rxjs";

/** Told what a subscriber threw. */
export type ReportError = (error: unknown) => void;

const ignore = () => undefined;

/** Default report: the console, the one place that every host of this library has. */
export const reportToConsole: ReportError = (error) => console.error("execwire: a subscriber threw:", error);

/**
 * An Observable that catches what its subscribers throw, reports it and goes on with them. Operators keep the guard
 * (`pipe` lifts into the same class), so it stands at the end of every chain that starts here.
 */
export class GuardedObservable<T> extends Observable<T> {
  /** Where what a subscriber throws goes. */
  readonly report: ReportError;

  constructor(report: ReportError, subscribe?: (subscriber: Subscriber<T>) => (() => void) | undefined) {
    super(subscribe);
    this.report = report;
  }

  // rxjs calls `lift` for each operator of a pipe; without this override the guard would end at the first one.
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
    // A Subscriber is rxjs's own: the operator behind it, whose end is guarded in its turn.
    if (observerOrNext instanceof Subscription) return super.subscribe(observerOrNext as Partial<Observer<T>>);
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === "object" && observerOrNext
        ? observerOrNext
        : { next: observerOrNext ?? ignore, ...(error && { error }), complete: complete ?? ignore };
    return super.subscribe({
      next: (value) => this.#guard(() => observer.next?.(value)),
      error: (error) => (observer.error ? this.#guard(() => observer.error?.(error)) : this.report(error)),
      complete: () => this.#guard(() => observer.complete?.()),
    });
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.report(error);
    }
  }
}

/** Gives what was built from a guarded observable the same guard, where it lost it (`concat`, `defer`). */
export function guardLike<T>(origin: Observable<unknown>, source: Observable<T>): Observable<T> {
  if (!(origin instanceof GuardedObservable)) return source;
  return new GuardedObservable<T>(origin.report, (subscriber) => {
    const subscription = source.subscribe(subscriber);
    return () => subscription.unsubscribe();
  });
}
