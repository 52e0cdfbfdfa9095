// What survives a lost connection: the processes it started, and the outcomes of its requests, so that a request sent
// again after a reconnect is answered and not done again.
import { randomBytes, randomUUID } from "node:crypto";
import { encode, type ReplyMessage } from "../../protocol/index.ts";
import type { Role } from "./auth.ts";
import type { Channel } from "./channel.ts";

/** Where replies go at the moment. */
export interface SessionConnection {
  send(frame: Uint8Array): void;
  /** Another connection has taken the session over. */
  supersede(): void;
}

/** One client, over any number of connections, one at a time. */
export class Session {
  readonly id = randomUUID();
  /** Whoever shows it may resume; it appears in the welcome message and nowhere else. */
  readonly secret = randomBytes(32).toString("base64url");
  readonly role: Role;
  /** Ids of the processes it is starting. */
  readonly starting = new Set<string>();
  /** The processes it started. */
  readonly owned = new Set<Channel>();
  #connection: SessionConnection | undefined;
  /** Outcomes by request id; undefined while the request is running. */
  readonly #outcomes = new Map<number, Uint8Array | undefined>();

  constructor(role: Role) {
    this.role = role;
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** Requests that are running or whose replies the client may still ask for. */
  get pending(): number {
    return this.#outcomes.size;
  }

  /** The one connection from now on; an earlier one is told. */
  attach(connection: SessionConnection): void {
    const earlier = this.#connection;
    this.#connection = connection;
    earlier?.supersede();
  }

  /** Whether `connection` was the present one; the session is detached then. */
  detach(connection: SessionConnection): boolean {
    if (this.#connection !== connection) return false;
    this.#connection = undefined;
    return true;
  }

  /** The client will not ask for these again. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) if (this.#outcomes.get(id)) this.#outcomes.delete(id);
  }

  /** The client will ask for none but these again. */
  forgetAllBut(ids: readonly number[]): void {
    const kept = new Set(ids);
    this.forget([...this.#outcomes.keys()].filter((id) => !kept.has(id)));
  }

  /** Does a request once, and `after` after its reply: a repetition gets the outcome of the first time, when there is one. */
  once(id: number, act: () => Promise<ReplyMessage>, after: () => void): void {
    if (this.#outcomes.has(id)) {
      const outcome = this.#outcomes.get(id);
      if (outcome) this.#connection?.send(outcome);
      return;
    }
    this.#outcomes.set(id, undefined);
    void act().then((reply) => {
      const frame = encode(reply);
      this.#outcomes.set(id, frame);
      this.#connection?.send(frame);
      after();
    });
  }
}
