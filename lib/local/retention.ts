// Keeps closed processes readable for a while, within a time, a count and a number of bytes. When there are too many, or their
// descriptions are too large, the oldest are removed. When there is too much output, the largest processes lose theirs and keep
// their end, so that one flood does not cost small processes their results.
import type { Cancel, Clock } from "../clock.ts";
import type { ProcessActor } from "./process-actor.ts";

/** Limits on the processes that are kept. */
export interface RetentionLimits {
  readonly closedRetentionMs: number;
  readonly closedProcesses: number;
  readonly closedBytes: number;
  readonly closedInfoBytes: number;
}

interface Kept {
  bytes: number;
  readonly cancel: Cancel;
}

/** The closed processes of a supervisor, oldest first. */
export class Retention {
  readonly #kept = new Map<ProcessActor, Kept>();
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #remove: (actor: ProcessActor) => void;
  #bytes = 0;
  #infoBytes = 0;

  /** `remove` is called when a process is dropped. */
  constructor(limits: RetentionLimits, clock: Clock, remove: (actor: ProcessActor) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#remove = remove;
  }

  /** Starts the retention time of a process that was just closed. */
  keep(actor: ProcessActor): void {
    const bytes = actor.log.cost;
    const cancel = this.#clock.after(this.#limits.closedRetentionMs, () => this.#drop(actor), { background: true });
    this.#kept.set(actor, { bytes, cancel });
    this.#bytes += bytes;
    this.#infoBytes += actor.cost;
    const { closedProcesses, closedInfoBytes } = this.#limits;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= closedProcesses && this.#infoBytes <= closedInfoBytes) break;
      this.#drop(oldest);
    }
    if (this.#bytes > this.#limits.closedBytes) this.#trim();
  }

  /** Removes all of them now. */
  clear(): void {
    for (const actor of this.#kept.keys()) this.#drop(actor);
  }

  #trim(): void {
    for (const [actor, kept] of [...this.#kept].sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (this.#bytes <= this.#limits.closedBytes) return;
      // Output that a lossless reader has not read yet stays; the memory budget bounds it.
      actor.log.trim();
      this.#bytes += actor.log.cost - kept.bytes;
      kept.bytes = actor.log.cost;
    }
  }

  #drop(actor: ProcessActor): void {
    const kept = this.#kept.get(actor);
    if (!kept) return;
    this.#kept.delete(actor);
    this.#bytes -= kept.bytes;
    this.#infoBytes -= actor.cost;
    kept.cancel();
    this.#remove(actor);
  }
}
