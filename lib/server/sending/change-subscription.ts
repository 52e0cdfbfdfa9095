// State changes on their way to one connection. While its outbox is full, only the latest change of each process is kept.
import { encode, type ProcessInfo } from "../../../protocol/index.ts";
import { fitInfo } from "../../process/process-info.ts";
import type { Outbox } from "./outbox.ts";

/** Bytes of a frame around the process info. */
const ENVELOPE_BYTES = 64;

/** Sends state changes to one client, from `open` on. */
export class ChangeSubscription {
  readonly #outbox: Outbox;
  /** Unsent changes by incarnation. */
  readonly #latest = new Map<string, ProcessInfo>();
  readonly #maxBytes: number;
  #open = false;

  constructor(outbox: Outbox, frameBytes: number) {
    this.#outbox = outbox;
    this.#maxBytes = frameBytes - ENVELOPE_BYTES;
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
