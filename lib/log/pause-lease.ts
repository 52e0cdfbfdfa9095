// How long lossless readers may hold a writer back without a sign of life.
import type { Cancel, Clock } from "../clock.ts";
import type { HoldSet } from "./hold-set.ts";

/** Rounds of a lease on the holds of one log, from the pause to the resume. */
export class PauseLease {
  readonly #holds: HoldSet;
  readonly #arm: () => Cancel;
  #timer: Cancel | undefined;

  /** `onOver` must lead to a call of `over`, in a turn of its own. */
  constructor(holds: HoldSet, clock: Clock, leaseMs: number, onOver: () => void) {
    this.#holds = holds;
    this.#arm = () => clock.after(leaseMs, onOver, { background: true });
  }

  begin(): void {
    this.#holds.beginLease();
    this.#timer = this.#arm();
  }

  /** A round is over: holds without a sign of life are released, and the next round begins. */
  over(): void {
    this.#holds.endLease();
    this.#timer = this.#arm();
  }

  end(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
