// All processes of this system at once, for who must decide now whom to reach.
import { listPids, type ProcessEntry, readProcess } from "./proc.ts";

/** A kill is repeated while it finds new members, since they may fork meanwhile; this ends a race that cannot be won. */
const MAX_ROUNDS = 20;

/**
 * The processes of this system. A scan takes milliseconds, so it is shared by all kills in the same turn of the event loop (a
 * supervisor that ends a thousand trees); never longer, or a kill would miss what was forked since.
 */
export class ProcTable {
  #entries: readonly ProcessEntry[] = [];
  #pids: ReadonlySet<number> | undefined;
  #isOfThisTurn = false;
  readonly #rounds = new Set<() => boolean>();

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

  /**
   * Calls `round` on new scans until it returns false: at the end of this job, together with the rounds of others, since a scan
   * for each of a thousand kills would take minutes.
   */
  repeat(round: () => boolean): void {
    if (this.#rounds.size === 0) queueMicrotask(() => this.finishRounds());
    this.#rounds.add(round);
  }

  /** Does now what `repeat` has put off. */
  finishRounds(): void {
    for (let scans = 1; scans < MAX_ROUNDS && this.#rounds.size > 0; scans += 1) {
      this.refresh();
      for (const round of this.#rounds) if (!round()) this.#rounds.delete(round);
    }
    this.#rounds.clear();
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
