// Holds an exec-server back for lossless readers. The dialect has no flow control of its own, but the server stops
// reading from a child when its socket is not read; since there is one socket, this stops every process of the client.
import type { Clock } from "../../clock.ts";
import type { HoldSet } from "../../log/hold-set.ts";
import { PauseLease } from "../../log/pause-lease.ts";

/** What a brake needs. */
export interface BrakeOptions {
  /** A reader that shows no sign of life for this long is considered dead. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly setPaused: (paused: boolean) => void;
}

/** Decides whether to read on, by the pressure of all logs. */
export class Brake {
  readonly #options: BrakeOptions;
  /** Those whose readers are behind. */
  readonly #full = new Map<HoldSet, PauseLease>();
  /** Answers are awaited: they come on the same socket, and a reader may wait for one. */
  #isBusy = false;
  #isOff = false;

  constructor(options: BrakeOptions) {
    this.#options = options;
  }

  /** What these hold fills their log, or no longer does. */
  press(holds: HoldSet, isFull: boolean): void {
    this.#full.get(holds)?.end();
    this.#full.delete(holds);
    if (isFull) {
      const { clock, leaseMs } = this.#options;
      const lease = new PauseLease(holds, clock, leaseMs, () => lease.over());
      this.#full.set(holds, lease);
      lease.begin();
    }
    this.update();
  }

  /** Waits for these readers no longer, until they have caught up. */
  release(holds: HoldSet): void {
    this.press(holds, false);
  }

  set isBusy(busy: boolean) {
    this.#isBusy = busy;
    this.update();
  }

  /** Waits for no reader any more. */
  off(): void {
    this.#isOff = true;
    for (const lease of this.#full.values()) lease.end();
    this.update();
  }

  /** Sets the connection, also a new one, as it must be. */
  update(): void {
    this.#options.setPaused(!this.#isBusy && !this.#isOff && this.#full.size > 0);
  }
}
