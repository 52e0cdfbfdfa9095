// Limits how long lossless readers that do not renew their holds may keep a writer paused.
import type { Cancel, Clock } from "../clock.ts";
import type { HoldSet } from "./hold-set.ts";

/** The lease of all holds of one log, in rounds, from the pause of the writer to its resumption. */
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

  /** Ends a round: holds that were not renewed are released, and the next round begins. */
  over(): void {
    // First, since a release may end the pressure and with it this lease.
    this.#timer = this.#arm();
    this.#holds.endLease();
  }

  end(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
