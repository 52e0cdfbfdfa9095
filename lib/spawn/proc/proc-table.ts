// A snapshot of all processes of the system, for deciding which ones to signal.
import { listPids, type ProcessEntry, readProcess } from "./proc.ts";

/** A kill repeats while it finds new members, since members may fork meanwhile. This bound ends a race that it cannot win. */
const MAX_ROUNDS = 20;

/**
 * The processes of the system. A scan takes milliseconds, so all kills in the same turn of the event loop share it (a supervisor
 * may end a thousand trees). It is not reused in a later turn: a kill would miss processes forked since.
 */
export class ProcTable {
  #entries: readonly ProcessEntry[] = [];
  #pids: ReadonlySet<number> | undefined;
  #isFresh = false;
  readonly #rounds = new Set<() => boolean>();

  /** All processes. */
  get entries(): readonly ProcessEntry[] {
    if (!this.#isFresh) this.refresh();
    return this.#entries;
  }

  /** Whether there is a process with this pid. */
  has(pid: number): boolean {
    const { entries } = this;
    this.#pids ??= new Set(entries.map((entry) => entry.pid));
    return this.#pids.has(pid);
  }

  /**
   * Calls `round` after new scans until it returns false: in a microtask, together with the rounds of other kills, since a
   * separate scan for each of a thousand kills would take minutes.
   */
  repeat(round: () => boolean): void {
    if (this.#rounds.size === 0) queueMicrotask(() => this.finishRounds());
    this.#rounds.add(round);
  }

  /** Runs the pending rounds now. */
  finishRounds(): void {
    for (let scans = 1; scans < MAX_ROUNDS && this.#rounds.size > 0; scans += 1) {
      this.refresh();
      for (const round of this.#rounds) if (!round()) this.#rounds.delete(round);
    }
    this.#rounds.clear();
  }

  /** The next use scans again: a child's output may name processes newer than the scan. On a busy machine a turn is long. */
  invalidate(): void {
    this.#isFresh = false;
  }

  /** Scans now. */
  refresh(): void {
    this.#entries = listPids().flatMap((pid) => readProcess(pid) ?? []);
    this.#pids = undefined;
    if (this.#isFresh) return;
    this.#isFresh = true;
    setImmediate(() => {
      this.#isFresh = false;
    });
  }
}
