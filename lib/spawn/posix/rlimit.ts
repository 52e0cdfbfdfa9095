// A struct rlimit as prlimit(2) reads and writes it.
import { endianness } from "node:os";

/** A resource limit; infinite if unlimited. */
export interface ResourceLimits {
  readonly soft: number;
  readonly hard: number;
}

const RLIM_INFINITY = 2 ** 64 - 1;
const WORD = 2 ** 32;
const IS_LITTLE_ENDIAN = endianness() === "LE";

/** The memory for one call. */
export class Rlimit {
  /** As 32-bit words: 64-bit numbers would be BigInts, each an allocation. */
  readonly words = new Uint32Array(4);

  get(): ResourceLimits {
    return { soft: this.#read(0), hard: this.#read(2) };
  }

  set({ soft, hard }: ResourceLimits): void {
    this.#write(0, soft);
    this.#write(2, hard);
  }

  #read(index: number): number {
    const [first = 0, second = 0] = [this.words[index], this.words[index + 1]];
    const limit = IS_LITTLE_ENDIAN ? first + second * WORD : second + first * WORD;
    return limit >= RLIM_INFINITY ? Number.POSITIVE_INFINITY : limit;
  }

  #write(index: number, limit: number): void {
    const isInfinite = limit === Number.POSITIVE_INFINITY;
    const [low, high] = isInfinite ? [WORD - 1, WORD - 1] : [limit % WORD, Math.floor(limit / WORD)];
    this.words[index] = IS_LITTLE_ENDIAN ? low : high;
    this.words[index + 1] = IS_LITTLE_ENDIAN ? high : low;
  }
}
