// Bounds the writes of a client that its server has not answered: without a connection they stay in memory, and a caller may never
// wait for the answers.
import type { Limits } from "../../protocol/index.ts";
import { tooManyBytesWaiting } from "./refusals.ts";

/** Counts the bytes of one process. */
export class UnansweredWrites {
  readonly #maxBytes: number;
  #bytes = 0;

  /** The bound is what the host of the process accepts and lets wait. */
  constructor({ stdinQueueBytes, stdinParkedBytes }: Pick<Limits, "stdinQueueBytes" | "stdinParkedBytes">) {
    this.#maxBytes = stdinQueueBytes + stdinParkedBytes;
  }

  /** Makes a write of so many bytes, or rejects with LIMIT_EXCEEDED. Without other writes, one of any size may be made. */
  async make<T>(bytes: number, write: () => Promise<T>): Promise<T> {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) throw tooManyBytesWaiting();
    this.#bytes += bytes;
    try {
      return await write();
    } finally {
      this.#bytes -= bytes;
    }
  }
}
