// What the operating system knows of one child: who holds its streams, and what it is doing (Linux, /proc).
import type { Activity, PipeHolder } from "../../protocol/index.ts";
import { findActivity } from "./activity.ts";
import type { Facts } from "./child.ts";
import type { ChildIo } from "./child-io.ts";
import { findOpenFiles, type OpenFiles, type StreamFile, whoHolds } from "./open-files.ts";
import { listPids, readCommand } from "./proc.ts";
import { finishInSlices } from "./slices.ts";

/** Asks about one child. */
export class ChildFacts implements Facts {
  readonly #pid: number;
  readonly #io: ChildIo;
  readonly #exit: { readonly reserved: boolean };
  readonly #search: FileSearch;

  constructor(pid: number, io: ChildIo, exit: { readonly reserved: boolean }, search: FileSearch) {
    this.#pid = pid;
    this.#io = io;
    this.#exit = exit;
    this.#search = search;
  }

  /** Who has the streams open whose other ends we have. Those that we may not look into are left out. */
  async holders(): Promise<readonly PipeHolder[]> {
    if (this.#io.openFiles.length === 0) return [];
    const open = await this.#search.find();
    // Asked again: the number of a terminal that is closed by now may be somebody else's.
    return finishInSlices(describeHolders(this.#io.openFiles, open, this.#pid));
  }

  async activity(): Promise<Activity> {
    if (!this.#exit.reserved) return { state: "exited" };
    const stdin = this.#io.openFiles.find(({ stream }) => stream === "stdin" || stream === "pty");
    return finishInSlices(findActivity(this.#pid, stdin));
  }
}

function* describeHolders(
  files: readonly StreamFile[],
  open: OpenFiles,
  leader: number,
): Generator<void, readonly PipeHolder[]> {
  const holders: PipeHolder[] = [];
  for (const [pid, streams] of yield* whoHolds(files, open, leader)) {
    holders.push({ pid, command: readCommand(pid), streams: [...streams] });
    yield;
  }
  return holders.sort((a, b) => a.pid - b.pid);
}

/** Finds open files in the whole system, once at a time for all who ask. */
export class FileSearch {
  #running: Promise<OpenFiles> | undefined;
  #next: Promise<OpenFiles> | undefined;

  /** What is open now: a search that has begun before may have passed by already, so who asks waits for the next one. */
  find(): Promise<OpenFiles> {
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<OpenFiles> {
    await this.#running;
    // In a turn of its own, also where none runs: all who ask in this one share the search.
    await new Promise((resolve) => setImmediate(resolve));
    this.#next = undefined;
    this.#running = finishInSlices(findOpenFiles(listPids()));
    return this.#running;
  }
}
