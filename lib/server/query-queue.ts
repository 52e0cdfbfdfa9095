// Queries that are expensive for one turn of the event loop, such as a list of all processes or a walk through /proc. For each
// role they run one at a time, and connections take turns. Requests for the same query share one run if they came before it
// began, so thousands of requests delay the other clients no more than one does.
import { ExecwireError } from "../errors.ts";

/** The pause after a query, as a multiple of its duration. */
const REST_FACTOR = 3;

/** A connection that runs queries. */
export interface Requester {
  /** The connection has ended; replies are not sent. */
  readonly isOver: boolean;
}

interface Query {
  readonly key: string;
  readonly requesters: Set<Requester>;
  readonly result: Promise<unknown>;
  /** Runs the query; never rejects. */
  perform(): Promise<void>;
  cancel(): void;
}

/** Runs queries one at a time. */
export class QueryQueue {
  /** Queries that have not begun, by key. */
  readonly #waiting = new Map<string, Query>();
  /** The same queries, by the connection that requested each first. */
  readonly #queues = new Map<Requester, Query[]>();
  readonly #rest: (queryMs: number) => Promise<void>;
  #isRunning = false;

  /** The queue waits for `rest` after each query. */
  constructor(rest = restAfter) {
    this.#rest = rest;
  }

  /** Resolves to the result of `act`, or of another query with this key that begins after this call. */
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
        // Leaves most of the time to other work.
        await this.#rest(performance.now() - begin);
      }
    }
    this.#isRunning = false;
  }

  /** The next query of the connection whose turn it is. That connection then goes to the end. */
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
  // All of its connections may have ended.
  result.catch(() => undefined);
  return {
    key,
    requesters: new Set(),
    result,
    perform: () => act().then(settle?.resolve, settle?.reject),
    cancel: () => settle?.reject(new ExecwireError("CONNECTION_LOST", "the connection of the request was lost")),
  };
}
