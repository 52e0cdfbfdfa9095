// A clock that only the spec advances: no spec sleeps, and timers fire in the turn in which they are due.
import type { Cancel, Clock } from "../../lib/clock.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
  readonly background: boolean;
}

/** A clock that moves only by `advance`. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  /** Number of armed timers. */
  get armed(): number {
    return this.#timers.size;
  }

  /** Number of armed timers that keep a program alive. */
  get foreground(): number {
    return [...this.#timers].filter(({ background }) => !background).length;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void, { background = false } = {}): Cancel {
    const timer: Timer = { at: this.#now + ms, run, background };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advances the clock and runs due timers in order, including those armed meanwhile. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#nextUntil(end); next; next = this.#nextUntil(end)) {
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }

  #nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    return next;
  }
}

/** A clock that records the requested times. */
export class TellingClock extends FakeClock {
  readonly asked: number[] = [];

  override after(ms: number, run: () => void, options?: { readonly background?: boolean }): Cancel {
    this.asked.push(ms);
    return super.after(ms, run, options);
  }
}
