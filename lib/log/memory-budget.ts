// Bounds the memory of all logs of a supervisor together: a thousand processes, each within its own bounds, could otherwise
// exhaust the machine.

/** A shared count of retained bytes (payload and overhead) with a limit. */
export class MemoryBudget {
  readonly limit: number;
  #used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /** True while more is in use than allowed: each log then evicts as much as it adds. */
  get over(): boolean {
    return this.#used > this.limit;
  }

  /** Adds bytes, or with a negative number removes them. */
  add(bytes: number): void {
    this.#used += bytes;
  }
}
