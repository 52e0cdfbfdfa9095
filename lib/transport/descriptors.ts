// How many descriptors this program may have open, and how many are left. A server that gave them all to connections could
// start no process any more: each needs some. Node only.
import { readdirSync, readFileSync } from "node:fs";

/** A count is good for this long, and for this many questions: in between, few can have been opened. */
const COUNT_MS = 20;
const COUNT_USES = 16;

/** Where the numbers come from. */
export interface DescriptorSource {
  /** The soft limit of open files; undefined where the system does not tell. */
  max(): number | undefined;
  /** Those open now. */
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

  /** `reserve` of them are for others than connections: at most an eighth of all. */
  constructor(reserve: number, source: DescriptorSource = system) {
    this.#source = source;
    this.#max = source.max() ?? Number.POSITIVE_INFINITY;
    this.#reserve = Math.min(reserve, this.#max / 8);
  }

  /** `count`, or an eighth of all descriptors where that is less. */
  atMostAnEighth(count: number): number {
    return Math.min(count, Math.max(1, Math.floor(this.#max / 8)));
  }

  /** Whether fewer are free than are to be kept for others. */
  get areScarce(): boolean {
    return this.#count() < this.#reserve;
  }

  /** Whether only a quarter of that is left. */
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
      // Not even one is left to look.
      return Number.POSITIVE_INFINITY;
    }
  },
};
