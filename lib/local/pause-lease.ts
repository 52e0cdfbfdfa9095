// Limits how long lossless readers may pause a child without renewing their holds.
import type { Cancel, Clock } from "../clock.ts";
import type { ReplayLog } from "../log/replay-log.ts";

/** Lease rounds on one log, from pause to resume. */
export class PauseLease {
  readonly #log: ReplayLog;
  readonly #arm: () => Cancel;
  #timer: Cancel | undefined;

  /** `onOver` must cause a call of `over` in a later turn. */
  constructor(log: ReplayLog, clock: Clock, leaseMs: number, onOver: () => void) {
    this.#log = log;
    this.#arm = () => clock.after(leaseMs, onOver, { background: true });
  }

  begin(): void {
    this.#log.beginLease();
    this.#timer = this.#arm();
  }

  /** A round has ended: holds that were not renewed during it are dropped, and the next round begins. */
  over(): void {
    this.#log.endLease();
    this.#timer = this.#arm();
  }

  end(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
