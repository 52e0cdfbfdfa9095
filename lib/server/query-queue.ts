// Calls that take long for one turn of the event loop, such as a list of all processes or a walk through /proc: one at a time for
// all connections of a role, these in turn, and the same look for all requests that came before it began. So thousands of
// requests cost the others no more than one.
import { ExecwireError } from "../errors.ts";

/** How long nothing is looked at after a query, in its own time. */
const REST_FACTOR = 3;

/** A connection that asks. */
export interface Requester {
  /** It is gone; its answers are not read. */
  readonly isOver: boolean;
}

interface Query {
  readonly key: string;
  readonly requesters: Set<Requester>;
  readonly result: Promise<unknown>;
  /** Performs it; never rejects. */
  perform(): Promise<void>;
  cancel(): void;
}

/** QueryQueue that wait for their turn. */
export class QueryQueue {
  /** By what is looked at; not those that have begun. */
  readonly #waiting = new Map<string, Query>();
  /** By the connection that asked first. */
  readonly #queues = new Map<Requester, Query[]>();
  readonly #rest: (queryMs: number) => Promise<void>;
  #isRunning = false;

  /** `rest` is waited for after each query. */
  constructor(rest = restAfter) {
    this.#rest = rest;
  }

  /** The result of `act`, or of another look with this key that begins after this call. */
  run<T>(requester: Requester, key: string, act: () => Promise<T>): Promise<T> {
    const known = this.#waiting.get(key);
    const query = known ?? makeQuery(key, act);
    query.requesters.add(requester);
    if (!known) {
      this.#waiting.set(key, query);
      const queue = this.#queues.get(requester);
      if (queue) queue.push(query);
      else this.#queues.set(requester, [query]);
      if (!this.#isRunning) void this.#runAll();
    }
    return query.result as Promise<T>;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let query = this.#next(); query; query = this.#next()) {
      this.#waiting.delete(query.key);
      if ([...query.requesters].every(({ isOver }) => isOver)) query.cancel();
      else {
        const begin = performance.now();
        await query.perform();
        // Most of the time is for what others wait for.
        await this.#rest(performance.now() - begin);
      }
    }
    this.#isRunning = false;
  }

  /** The first of the connection whose turn it is; it comes last then. */
  #next(): Query | undefined {
    for (const [requester, queue] of this.#queues) {
      this.#queues.delete(requester);
      const query = queue.shift();
      if (queue.length > 0) this.#queues.set(requester, queue);
      if (query) return query;
    }
    return undefined;
  }
}

function restAfter(queryMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, queryMs * REST_FACTOR));
}

function makeQuery<T>(key: string, act: () => Promise<T>): Query {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined;
  const result = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Its connections may be gone.
  result.catch(() => undefined);
  return {
    key,
    requesters: new Set(),
    result,
    perform: () => act().then(settle?.resolve, settle?.reject),
    cancel: () => settle?.reject(new ExecwireError("CONNECTION_LOST", "the connection of the request is gone")),
  };
}
