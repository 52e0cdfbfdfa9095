// Remembers which writes were accepted, so that a client that lost the reply can repeat a write without delivering it twice.
import { createHash } from "node:crypto";
import { ExecwireError } from "../errors.ts";

/** Accepted write ids with a digest of their bytes; beyond the capacity the oldest are dropped. */
export class WriteLedger {
  readonly #capacity: number;
  // A Map iterates in insertion order: the first key is the oldest.
  readonly #digests = new Map<string, string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether this id was accepted before, with any bytes. */
  has(writeId: string): boolean {
    return this.#digests.has(writeId);
  }

  /** Whether this write was accepted before. Throws WRITE_ID_CONFLICT when its id was accepted with other bytes. */
  knows(writeId: string, chunk: Uint8Array): boolean {
    const known = this.#digests.get(writeId);
    if (known === undefined) return false;
    if (known === digest(chunk)) return true;
    const message = `write id ${writeId} was used before with other bytes, which were accepted; these bytes are refused`;
    throw new ExecwireError("WRITE_ID_CONFLICT", message, { data: { writeId } });
  }

  /** Records an accepted write. */
  remember(writeId: string, chunk: Uint8Array): void {
    this.#digests.set(writeId, digest(chunk));
    for (const oldest of this.#digests.keys()) {
      if (this.#digests.size <= this.#capacity) return;
      this.#digests.delete(oldest);
    }
  }
}

function digest(chunk: Uint8Array): string {
  return createHash("sha256").update(chunk).digest("base64");
}
