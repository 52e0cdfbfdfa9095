// How much a lossless reader has not read yet: bytes that came, less those of the events it has acknowledged.
import type { Seq } from "../../../protocol/index.ts";

/** Counts output between the head and an acknowledged position. */
export class UnreadBytes {
  #chunks: { readonly seq: Seq; readonly bytes: number }[] = [];
  #first = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Output came. */
  add(seq: Seq, bytes: number): void {
    this.#chunks.push({ seq, bytes });
    this.#total += bytes;
  }

  /** Everything up to `seq` was read. */
  acknowledge(seq: Seq): void {
    for (let chunk = this.#chunks[this.#first]; chunk && chunk.seq <= seq; chunk = this.#chunks[this.#first]) {
      this.#total -= chunk.bytes;
      this.#first += 1;
    }
    // Shifting one by one would move the whole array each time.
    if (this.#first < 1024 && this.#first < this.#chunks.length) return;
    this.#chunks = this.#chunks.slice(this.#first);
    this.#first = 0;
  }
}
