// All processes of this system at once, for who must decide now whom to reach.
import { listPids, type ProcessEntry, readProcess } from "./proc.ts";

/**
 * The processes of this system. A scan takes milliseconds, so it is shared by all kills in the same turn of the event loop (a
 * supervisor that ends a thousand trees); never longer, or a kill would miss what was forked since.
 */
export class ProcTable {
  #entries: readonly ProcessEntry[] = [];
  #pids: ReadonlySet<number> | undefined;
  #isOfThisTurn = false;

  /** Every process there is. */
  get entries(): readonly ProcessEntry[] {
    if (!this.#isOfThisTurn) this.refresh();
    return this.#entries;
  }

  /** Whether there is a process with this pid. */
  has(pid: number): boolean {
    const { entries } = this;
    this.#pids ??= new Set(entries.map((entry) => entry.pid));
    return this.#pids.has(pid);
  }

  /** Something was heard of a process since the scan: whoever acts on that must not miss it. On a busy machine a turn is long. */
  outdate(): void {
    this.#isOfThisTurn = false;
  }

  /** Scans now. */
  refresh(): void {
    this.#entries = listPids().flatMap((pid) => readProcess(pid) ?? []);
    this.#pids = undefined;
    if (this.#isOfThisTurn) return;
    this.#isOfThisTurn = true;
    setImmediate(() => {
      this.#isOfThisTurn = false;
    });
  }
}
