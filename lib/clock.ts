// Time as a parameter, so that specs can advance it instead of sleeping.

/** Cancels a timer; harmless after it has fired. */
export type Cancel = () => void;

/** A source of time and timers. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch, for display. */
  now(): number;
  /** Calls `run` once after `ms` of monotonic time. A `background` timer does not keep the program alive. */
  after(ms: number, run: () => void, options?: { readonly background?: boolean }): Cancel;
}

/** The same clock, with timers that report errors: an error thrown out of a timer would end the program. */
export function guardedClock(clock: Clock, report: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    after(ms, run, options) {
      const guarded = () => {
        try {
          run();
        } catch (error) {
          report(error);
        }
      };
      return clock.after(ms, guarded, options);
    },
  };
}

/** The system's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, options) {
    const timer: unknown = setTimeout(run, ms);
    if (options?.background) (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
};
