// All processes of this system at once, for who must decide now whom to reach.
import { findOpenFiles, type OpenFiles, type StreamFile, whoHolds } from "./open-files.ts";
import { listPids, type ProcessEntry, readProcess } from "./proc.ts";
import { finish } from "./slices.ts";

/**
 * The processes of this system. A scan takes milliseconds, so it is shared by all who ask in the same turn of the event
 * loop (a supervisor that ends a thousand trees); never longer, or a kill would miss who came since.
 */
export class ProcTable {
  #entries: readonly ProcessEntry[] = [];
  #openFiles: OpenFiles | undefined;
  #isOfThisTurn = false;

  /** Every process there is. */
  get entries(): readonly ProcessEntry[] {
    if (!this.#isOfThisTurn) this.refresh();
    return this.#entries;
  }

  /** Pids, other than ours, that keep one of these streams of `leader` open. */
  holdersOf(files: readonly StreamFile[], leader: number): readonly number[] {
    const { entries } = this;
    this.#openFiles ??= finish(findOpenFiles(entries.map(({ pid }) => pid)));
    return [...finish(whoHolds(files, this.#openFiles, leader)).keys()];
  }

  /** Scans now. */
  refresh(): void {
    this.#entries = listPids().flatMap((pid) => readProcess(pid) ?? []);
    this.#openFiles = undefined;
    if (this.#isOfThisTurn) return;
    this.#isOfThisTurn = true;
    setImmediate(() => {
      this.#isOfThisTurn = false;
    });
  }
}
