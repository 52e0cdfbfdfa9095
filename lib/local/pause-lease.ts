// How long lossless readers may hold a child back without a sign of life.
import type { Cancel, Clock } from "../clock.ts";
import type { ReplayLog } from "../log/replay-log.ts";

/** Rounds of a lease on one log, from the pause to the resume. */
export class PauseLease {
  readonly #log: ReplayLog;
  readonly #arm: () => Cancel;
  #timer: Cancel | undefined;

  /** `onOver` must lead to a call of `over`, in a turn of its own. */
  constructor(log: ReplayLog, clock: Clock, leaseMs: number, onOver: () => void) {
    this.#log = log;
    this.#arm = () => clock.after(leaseMs, onOver, { background: true });
  }

  begin(): void {
    this.#log.beginLease();
    this.#timer = this.#arm();
  }

  /** A round is over: who gave no sign of life is let go of, and the next one begins. */
  over(): void {
    this.#log.endLease();
    this.#timer = this.#arm();
  }

  end(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
