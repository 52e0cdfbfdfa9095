// Pauses an exec-server for lossless readers. The protocol has no flow control, but the server stops reading from a child when
// its socket is not read. Since all processes of a client share one socket, this stops all of them.
import type { Clock } from "../../clock.ts";
import type { HoldSet } from "../../log/hold-set.ts";
import { PauseLease } from "../../log/pause-lease.ts";

/** The lease of readers, and the connection to pause. */
export interface ReadFlowControlOptions {
  /** A reader that does not renew its hold for this long is considered dead. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly setPaused: (paused: boolean) => void;
}

/** Decides whether to read from the connection, by the pressure of all logs. */
export class ReadFlowControl {
  readonly #options: ReadFlowControlOptions;
  /** The holds of logs whose readers are behind. */
  readonly #full = new Map<HoldSet, PauseLease>();
  /** Replies are pending: they come on the same socket, and a reader may wait for one. */
  #isBusy = false;
  #isDisabled = false;

  constructor(options: ReadFlowControlOptions) {
    this.#options = options;
  }

  /** Unread events of these holds fill their log (true), or no longer do (false). */
  setPressure(holds: HoldSet, isFull: boolean): void {
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

  /** Stops waiting for these readers, until they have caught up and fall behind again. */
  ignore(holds: HoldSet): void {
    this.setPressure(holds, false);
  }

  set isBusy(busy: boolean) {
    this.#isBusy = busy;
    this.update();
  }

  /** Never pauses again. */
  disable(): void {
    this.#isDisabled = true;
    for (const lease of this.#full.values()) lease.end();
    this.update();
  }

  /** Pauses or resumes the connection as needed; also to be called on a new one. */
  update(): void {
    this.#options.setPaused(!this.#isBusy && !this.#isDisabled && this.#full.size > 0);
  }
}
