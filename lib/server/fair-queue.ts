// Work that takes long for one turn of the event loop: one piece a turn, and the clients take turns, so that who asks for much
// keeps neither those who ask for something else waiting, nor those who ask for the same once.

/** Does one thing at a time. */
export class FairQueue {
  /** What is still to be done, by whom it is for. */
  readonly #waiting = new Map<object, (() => Promise<void>)[]>();
  #isWorking = false;

  /** Does it in a turn of its own. */
  run<T>(client: object, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(client) ?? [];
      queue.push(() => act().then(resolve, reject));
      this.#waiting.set(client, queue);
      if (!this.#isWorking) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.size > 0) {
      for (const [client, queue] of this.#waiting) {
        const next = queue.shift();
        if (queue.length === 0) this.#waiting.delete(client);
        await new Promise((resolve) => setImmediate(resolve));
        await next?.();
      }
    }
    this.#isWorking = false;
  }
}
