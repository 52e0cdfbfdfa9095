// How long lossless readers may hold a writer back without a sign of life.
import type { Cancel, Clock } from "../clock.ts";
import type { HoldSet } from "./hold-set.ts";

/** Rounds of a lease on the holds of one log, from the pause to the resume. */
export class PauseLease {
  readonly #holds: HoldSet;
  readonly #arm: () => Cancel;
  #timer: Cancel | undefined;

  /** `onOver` must lead to a call of `over`. */
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
    // First, since the release may end the pressure, and with it the lease.
    this.#timer = this.#arm();
    this.#holds.endLease();
  }

  end(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
