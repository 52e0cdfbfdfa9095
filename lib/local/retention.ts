// Keeps closed processes readable for a while, within a time, a count and a number of bytes.
import type { Cancel, Clock } from "../clock.ts";
import type { ProcessActor } from "./process-actor.ts";

/** Bounds of what is kept. */
export interface RetentionLimits {
  readonly closedRetentionMs: number;
  readonly closedProcesses: number;
  readonly closedBytes: number;
}

interface Kept {
  readonly bytes: number;
  readonly cancel: Cancel;
}

/** The closed processes of a supervisor, oldest first. */
export class Retention {
  readonly #kept = new Map<ProcessActor, Kept>();
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #remove: (actor: ProcessActor) => void;
  #bytes = 0;

  /** `remove` is called when the time of a process is over. */
  constructor(limits: RetentionLimits, clock: Clock, remove: (actor: ProcessActor) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#remove = remove;
  }

  /** Begins the time of a process that was closed just now. */
  keep(actor: ProcessActor): void {
    const bytes = actor.log.cost;
    const cancel = this.#clock.after(this.#limits.closedRetentionMs, () => this.#drop(actor), { background: true });
    this.#kept.set(actor, { bytes, cancel });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.closedProcesses && this.#bytes <= this.#limits.closedBytes) return;
      this.#drop(oldest);
    }
  }

  /** Removes everything now. */
  clear(): void {
    for (const actor of this.#kept.keys()) this.#drop(actor);
  }

  #drop(actor: ProcessActor): void {
    const kept = this.#kept.get(actor);
    if (!kept) return;
    this.#kept.delete(actor);
    this.#bytes -= kept.bytes;
    kept.cancel();
    this.#remove(actor);
  }
}
