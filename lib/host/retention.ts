// Keeps closed processes readable for a while, within a time, a count and two numbers of bytes. Above the count, or above the
// bytes of descriptions, the oldest processes are removed. Above the bytes of output, the largest logs lose their output and keep
// their end, so that a flood does not cost small processes their results.
import type { Cancel, Clock } from "../clock.ts";

/** Limits on the processes that are kept. */
export interface RetentionLimits {
  readonly closedRetentionMs: number;
  readonly closedProcesses: number;
  readonly closedBytes: number;
  readonly closedInfoBytes: number;
}

/** A process that may be kept after its end. */
export interface Retainable {
  /** Bytes of memory that it costs, without its log. */
  readonly cost: number;
  readonly log: {
    /** Bytes of memory that the log takes. */
    readonly cost: number;
    /** Drops the output that no reader holds. */
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

  /** `remove` is called with each process that is dropped. */
  constructor(limits: RetentionLimits, clock: Clock, remove: (process: P) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#remove = remove;
  }

  /** Starts the retention time of a process that was just closed. */
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

  /** Removes all of them now. */
  clear(): void {
    for (const process of this.#kept.keys()) this.#drop(process);
  }

  #trim(): void {
    for (const [{ log }, kept] of [...this.#kept].sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (this.#bytes <= this.#limits.closedBytes) return;
      // Output that a lossless reader has not read yet stays; the memory budget bounds it.
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
