// Keeps closed processes readable, within bounds of time, count, output bytes and info bytes. Above the count or the info bytes
// the oldest processes are removed. Above the output bytes the largest logs lose their output and keep their exit, so that
// a process with much output does not cost small processes their results.
import type { Cancel, Clock } from "../clock.ts";

/** Bounds of the closed processes; see `protocol/limits.ts`. */
export interface RetentionLimits {
  readonly closedRetentionMs: number;
  readonly closedProcesses: number;
  readonly closedBytes: number;
  readonly closedInfoBytes: number;
}

/** A process that can be kept after it has closed. */
export interface Retainable {
  /** Bytes of memory, without the log. */
  readonly cost: number;
  readonly log: {
    /** Bytes of memory of the log. */
    readonly cost: number;
    /** Drops the output that no lossless reader holds. */
    trim(): void;
  };
}

interface Kept {
  bytes: number;
  readonly cancel: Cancel;
}

/** The closed processes of a backend, oldest first. */
export class Retention<P extends Retainable> {
  readonly #kept = new Map<P, Kept>();
  readonly #limits: RetentionLimits;
  readonly #clock: Clock;
  readonly #remove: (process: P) => void;
  #bytes = 0;
  #infoBytes = 0;

  /** `remove` is called with each process that is kept no longer. */
  constructor(limits: RetentionLimits, clock: Clock, remove: (process: P) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#remove = remove;
  }

  /** Keeps a process that has just closed for `closedRetentionMs`. */
  keep(process: P): void {
    const bytes = process.log.cost;
    const cancel = this.#clock.after(this.#limits.closedRetentionMs, () => this.#drop(process), { background: true });
    this.#kept.set(process, { bytes, cancel });
    this.#bytes += bytes;
    this.#infoBytes += process.cost;
    const { closedProcesses, closedInfoBytes } = this.#limits;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= closedProcesses && this.#infoBytes <= closedInfoBytes) break;
      this.#drop(oldest);
    }
    if (this.#bytes > this.#limits.closedBytes) this.#trim();
  }

  /** Removes all kept processes now. */
  clear(): void {
    for (const process of this.#kept.keys()) this.#drop(process);
  }

  #trim(): void {
    for (const [{ log }, kept] of [...this.#kept].sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (this.#bytes <= this.#limits.closedBytes) return;
      // Output that a lossless reader has not read stays; the memory budget bounds it.
      log.trim();
      this.#bytes += log.cost - kept.bytes;
      kept.bytes = log.cost;
    }
  }

  #drop(process: P): void {
    const kept = this.#kept.get(process);
    if (!kept) return;
    this.#kept.delete(process);
    this.#bytes -= kept.bytes;
    this.#infoBytes -= process.cost;
    kept.cancel();
    this.#remove(process);
  }
}
