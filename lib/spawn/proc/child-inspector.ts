// Inspects one child through /proc (Linux): which processes hold its streams, and what it is doing.
import type { Activity, PipeHolder } from "../../../protocol/index.ts";
import type { ProcessInspector } from "../child.ts";
import type { ChildIo } from "../io/child-io.ts";
import { findActivity } from "./activity.ts";
import { type DescriptorsByName, findHolders, findOpenFiles, type StreamFile } from "./open-files.ts";
import { listPids, readCommand } from "./proc.ts";
import { finishInSlices } from "./slices.ts";

/** Inspects one child. */
export class ChildInspector implements ProcessInspector {
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

  /** The processes that have the other ends of our streams open, except those we are not permitted to inspect. */
  async holders(): Promise<readonly PipeHolder[]> {
    if (this.#io.openFiles.length === 0) return [];
    const open = await this.#search.find();
    // Read again after the search: the number of a terminal that was closed meanwhile may belong to another terminal.
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
  open: DescriptorsByName,
  leader: number,
): Generator<void, readonly PipeHolder[]> {
  const holders: PipeHolder[] = [];
  for (const [pid, streams] of yield* findHolders(files, open, leader)) {
    holders.push({ pid, command: readCommand(pid), streams: [...streams] });
    yield;
  }
  return holders.sort((a, b) => a.pid - b.pid);
}

/** Finds open files in the whole system. One search runs at a time, shared by all callers. */
export class FileSearch {
  #running: Promise<DescriptorsByName> | undefined;
  #next: Promise<DescriptorsByName> | undefined;

  /** The files open now. A running search may have passed a process already, so each call waits for the next search. */
  find(): Promise<DescriptorsByName> {
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<DescriptorsByName> {
    await this.#running;
    // Always in a later turn of the event loop: all calls of the current turn share one search.
    await new Promise((resolve) => setImmediate(resolve));
    this.#next = undefined;
    this.#running = finishInSlices(findOpenFiles(listPids()));
    return this.#running;
  }
}
