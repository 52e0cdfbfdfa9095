// How many descriptors this process may open, and how many are free. If connections used all of them, the server could not
// start a process, which needs several. Node only.
import { readdirSync, readFileSync } from "node:fs";

/** A count is reused for this long and for this many calls: only a few descriptors can be opened in between. */
const COUNT_MS = 20;
const COUNT_USES = 16;

/** Source of the numbers. */
export interface DescriptorSource {
  /** The soft limit on open files; undefined where the system does not report one. */
  max(): number | undefined;
  /** The number of open descriptors. */
  open(): number;
}

/** Counts the descriptors of this process. */
export class Descriptors {
  readonly #source: DescriptorSource;
  readonly #max: number;
  readonly #reserve: number;
  #free = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #uses = 0;

  /** `reserve` descriptors, but at most an eighth of all, are kept for other uses than connections. */
  constructor(reserve: number, source: DescriptorSource = system) {
    this.#source = source;
    this.#max = source.max() ?? Number.POSITIVE_INFINITY;
    this.#reserve = Math.min(reserve, this.#max / 8);
  }

  /** `count`, or an eighth of all descriptors if that is less; at least 1. */
  atMostAnEighth(count: number): number {
    return Math.min(count, Math.max(1, Math.floor(this.#max / 8)));
  }

  /** Whether fewer descriptors are free than are reserved. */
  get areScarce(): boolean {
    return this.#count() < this.#reserve;
  }

  /** Whether less than a quarter of the reserve is free. */
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
      // No descriptor is free, not even to open the folder.
      return Number.POSITIVE_INFINITY;
    }
  },
};
