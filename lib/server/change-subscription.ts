// Changes of state on their way to one connection: while it has no room, only the latest of each process is kept.
import { encode, type ProcessInfo } from "../../protocol/index.ts";
import { fitInfo } from "../process/process-info.ts";
import type { Outbox } from "./outbox.ts";

/** What is around a process in a frame. */
const AROUND_BYTES = 64;

/** Sends changes once somebody asked for them. */
export class ChangeSubscription {
  readonly #outbox: Outbox;
  readonly #latest = new Map<string, ProcessInfo>();
  readonly #maxBytes: number;
  #open = false;

  constructor(outbox: Outbox, frameBytes: number) {
    this.#outbox = outbox;
    this.#maxBytes = frameBytes - AROUND_BYTES;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  open(): void {
    this.#open = true;
  }

  add(process: ProcessInfo): void {
    if (!this.#open) return;
    this.#latest.set(process.incarnation, process);
    this.pump();
  }

  pump(): void {
    for (const [key, process] of this.#latest) {
      if (!this.#outbox.hasRoom) return;
      this.#latest.delete(key);
      this.#outbox.push(encode({ type: "change", process: fitInfo(process, this.#maxBytes) }));
    }
  }
}
