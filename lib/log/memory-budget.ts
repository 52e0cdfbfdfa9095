// The memory of all logs of one supervisor together, so that a thousand processes within their own bounds cannot
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

  /** Counts bytes in (positive) or out (negative). */
  add(bytes: number): void {
    this.#used += bytes;
  }
}
