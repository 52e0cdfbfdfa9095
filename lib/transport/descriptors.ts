// How many file descriptors this program may open, and how many are left. A server that uses all of them for connections could
// not start processes, which need some too. Node only.
import { readdirSync, readFileSync } from "node:fs";

/** A count is reused for this long and this many times: few descriptors can have been opened in the meantime. */
const COUNT_MS = 20;
const COUNT_USES = 16;

/** Counts descriptors. */
export interface DescriptorSource {
  /** The soft limit of open files; undefined if the system does not report it. */
  max(): number | undefined;
  /** Number of descriptors open now. */
  open(): number;
}

/** Watches the descriptors of this program. */
export class Descriptors {
  readonly #source: DescriptorSource;
  readonly #max: number;
  readonly #reserve: number;
  #free = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #uses = 0;

  /** `reserve` descriptors, and at most an eighth of all, are not for connections. */
  constructor(reserve: number, source: DescriptorSource = system) {
    this.#source = source;
    this.#max = source.max() ?? Number.POSITIVE_INFINITY;
    this.#reserve = Math.min(reserve, this.#max / 8);
  }

  /** `count`, or an eighth of all descriptors if that is less. */
  atMostAnEighth(count: number): number {
    return Math.min(count, Math.max(1, Math.floor(this.#max / 8)));
  }

  /** Whether fewer descriptors are free than reserved. */
  get areScarce(): boolean {
    return this.#count() < this.#reserve;
  }

  /** Whether less than a quarter of the reserve is left. */
  get areUsedUp(): boolean {
    return this.#count() < this.#reserve / 4;
  }

  #count(): number {
    if (this.#max === Number.POSITIVE_INFINITY) return this.#max;
    const now = performance.now();
    this.#uses += 1;
    if (this.#uses < COUNT_USES && now - this.#countedAt < COUNT_MS) return this.#free;
    this.#countedAt = now;
    this.#uses = 0;
    this.#free = this.#max - this.#source.open();
    return this.#free;
  }
}

const system: DescriptorSource = {
  max() {
    try {
      const soft = Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
      return Number.isNaN(soft) ? undefined : soft;
    } catch {
      return undefined;
    }
  },
  open() {
    try {
      return readdirSync("/proc/self/fd").length;
    } catch {
      // No descriptor is left to open the directory.
      return Number.POSITIVE_INFINITY;
    }
  },
};
