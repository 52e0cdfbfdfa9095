// Calls that take long for one turn of the event loop, such as a list of all processes or a walk through /proc: one at a time for
// all connections of a role, these in turn, and the same look for all requests that came before it began. So thousands of
// requests cost the others no more than one.
import { ExecwireError } from "../errors.ts";

/** How long nothing is looked at after a look, in its own time. */
const REST = 3;

/** A connection that asks. */
export interface Asker {
  /** It is gone; its answers are not read. */
  readonly isOver: boolean;
}

interface Look {
  readonly key: string;
  readonly askers: Set<Asker>;
  readonly result: Promise<unknown>;
  /** Performs it; never rejects. */
  perform(): Promise<void>;
  cancel(): void;
}

/** Looks that wait for their turn. */
export class Looks {
  /** By what is looked at; not those that have begun. */
  readonly #waiting = new Map<string, Look>();
  /** By the connection that asked first. */
  readonly #lines = new Map<Asker, Look[]>();
  readonly #rest: (lookMs: number) => Promise<void>;
  #isRunning = false;

  /** `rest` is waited for after each look. */
  constructor(rest = restAfter) {
    this.#rest = rest;
  }

  /** The result of `act`, or of another look with this key that begins after this call. */
  ask<T>(asker: Asker, key: string, act: () => Promise<T>): Promise<T> {
    const known = this.#waiting.get(key);
    const look = known ?? makeLook(key, act);
    look.askers.add(asker);
    if (!known) {
      this.#waiting.set(key, look);
      const line = this.#lines.get(asker);
      if (line) line.push(look);
      else this.#lines.set(asker, [look]);
      if (!this.#isRunning) void this.#run();
    }
    return look.result as Promise<T>;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let look = this.#next(); look; look = this.#next()) {
      this.#waiting.delete(look.key);
      if ([...look.askers].every(({ isOver }) => isOver)) look.cancel();
      else {
        const begin = performance.now();
        await look.perform();
        // Most of the time is for what others wait for.
        await this.#rest(performance.now() - begin);
      }
    }
    this.#isRunning = false;
  }

  /** The first of the connection whose turn it is; it comes last then. */
  #next(): Look | undefined {
    for (const [asker, line] of this.#lines) {
      this.#lines.delete(asker);
      const look = line.shift();
      if (line.length > 0) this.#lines.set(asker, line);
      if (look) return look;
    }
    return undefined;
  }
}

function restAfter(lookMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, lookMs * REST));
}

function makeLook<T>(key: string, act: () => Promise<T>): Look {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined;
  const result = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Its connections may be gone.
  result.catch(() => undefined);
  return {
    key,
    askers: new Set(),
    result,
    perform: () => act().then(settle?.resolve, settle?.reject),
    cancel: () => settle?.reject(new ExecwireError("CONNECTION_LOST", "the connection of the request is gone")),
  };
}
