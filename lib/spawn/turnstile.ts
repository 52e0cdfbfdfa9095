// Lets a limited number of tasks run at a time; the others wait in line.

/** A counted gate. */
export class Turnstile {
  readonly #limit: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs the task once there is a place for it. */
  async pass<T>(task: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#limit) this.#inside += 1;
    else await new Promise<void>((enter) => this.#line.push(enter));
    try {
      return await task();
    } finally {
      // The place goes straight to the next in line.
      const next = this.#line.shift();
      if (next) next();
      else this.#inside -= 1;
    }
  }
}
