// Keeps closed processes readable within a time, a count and a number of bytes; the limit that is exceeded first applies. The
// server drops them after its own time; these limits bound the memory of a client.
import type { Cancel, Clock } from "../../clock.ts";
import { infoCost } from "../../process/process-info.ts";
import type { KnownProcess } from "./known-process.ts";

/** Limits on the processes that are kept. */
export interface ClosedLimits {
  readonly closedRetentionMs: number;
  readonly closedProcesses: number;
  readonly closedBytes: number;
}

/** The closed processes of a client, oldest first. */
export class ClosedProcesses {
  readonly #kept = new Map<KnownProcess, { readonly bytes: number; readonly cancel: Cancel }>();
  readonly #limits: ClosedLimits;
  readonly #clock: Clock;
  #bytes = 0;

  constructor(limits: ClosedLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Starts the retention time of a process that was just closed. */
  keep(process: KnownProcess): void {
    const { closedRetentionMs, closedProcesses, closedBytes } = this.#limits;
    const bytes = process.log.retainedBytes + infoCost(process.info);
    const cancel = this.#clock.after(closedRetentionMs, () => this.#drop(process), { background: true });
    this.#kept.set(process, { bytes, cancel });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= closedProcesses && this.#bytes <= closedBytes) return;
      this.#drop(oldest);
    }
  }

  /** Removes all of them now. */
  clear(): void {
    for (const process of this.#kept.keys()) this.#drop(process);
  }

  #drop(process: KnownProcess): void {
    const kept = this.#kept.get(process);
    if (!kept) return;
    this.#kept.delete(process);
    this.#bytes -= kept.bytes;
    kept.cancel();
    process.remove();
  }
}
