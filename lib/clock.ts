// Time as a parameter, so that specs move it instead of sleeping.

/** Ends a timer; harmless after it fired. */
export type Cancel = () => void;

/** What the supervisor knows of time. */
export interface Clock {
  /** Milliseconds since the epoch, for people. */
  now(): number;
  /** Runs once after `ms`, measured on a monotonic clock. A `background` timer does not keep the program alive. */
  after(ms: number, run: () => void, options?: { readonly background?: boolean }): Cancel;
}

/** The same clock, whose timers report what they throw: out of a timer it would end the program. */
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

/** The real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, options) {
    const timer: unknown = setTimeout(run, ms);
    if (options?.background) (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  },
};
