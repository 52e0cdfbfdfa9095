// What survives a lost connection: the processes it started, and the outcomes of its requests, so that a request sent
// again after a reconnect is answered and not done again.
import { randomBytes, randomUUID } from "node:crypto";
import { type Limits, limits, type Seq } from "../../protocol/index.ts";
import type { MemoryBudget } from "../log/memory-budget.ts";
import type { Role } from "./auth.ts";
import type { Channel } from "./channel.ts";
import { HeldPosition } from "./held-position.ts";

/** How a session differs from the server's others. */
export interface SessionOptions {
  /** From SIGTERM to SIGKILL at its end, where that is not the server's. */
  readonly graceMs?: number;
  /** What all sessions keep together. */
  readonly kept?: MemoryBudget;
  /** What a kept reply costs beside its bytes. */
  readonly frameOverheadBytes?: number;
}

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
  /** From SIGTERM to SIGKILL at its end, where that is not the server's. */
  readonly graceMs: number | undefined;
  /** Ids of the processes it is starting. */
  readonly starting = new Set<string>();
  /** The processes it started. */
  readonly owned = new Set<Channel>();
  /** Nothing is begun for it any more. */
  over = false;
  /** What its lossless subscriptions have not acknowledged is kept, also while it has no connection. */
  readonly positions = new Map<Channel, HeldPosition>();
  #connection: SessionConnection | undefined;
  /** Outcomes by request id; undefined while the request is running. */
  readonly #outcomes = new Map<number, Uint8Array | undefined>();
  #outcomeBytes = 0;
  /** Shared with the other sessions, and what an outcome costs there beside its bytes. */
  readonly #kept: MemoryBudget | undefined;
  readonly #overheadBytes: number;

  constructor(role: Role, { graceMs, kept, frameOverheadBytes = limits.frameOverheadBytes }: SessionOptions = {}) {
    this.role = role;
    this.graceMs = graceMs;
    this.#kept = kept;
    this.#overheadBytes = frameOverheadBytes;
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** Whether its end takes nothing from anybody: no process, no position, no outcome that may be asked for again. */
  get ownsNothing(): boolean {
    const { starting, owned, positions } = this;
    return starting.size === 0 && owned.size === 0 && positions.size === 0 && this.#outcomes.size === 0;
  }

  /** Whether the request was sent before and its outcome is or will be here. */
  knows(id: number): boolean {
    return this.#outcomes.has(id);
  }

  /** Whether one more request would be one too many, for this session or for all together. */
  isFull({ requests, sessionRepliesBytes }: Pick<Limits, "requests" | "sessionRepliesBytes">): boolean {
    return this.#outcomes.size >= requests || this.#outcomeBytes > sessionRepliesBytes || this.#kept?.over === true;
  }

  /** The position of the session's lossless subscription of a channel; the client has read up to `acked`. */
  positionIn(channel: Channel, acked: Seq): HeldPosition {
    const known = this.positions.get(channel);
    if (known?.isLive) {
      known.moveTo(acked);
      return known;
    }
    const position = new HeldPosition(channel.process.log, acked);
    this.positions.set(channel, position);
    channel.holders.add(this);
    return position;
  }

  /** The subscription is over for good. */
  release(channel: Channel): void {
    this.positions.get(channel)?.release();
    this.positions.delete(channel);
    channel.holders.delete(this);
  }

  /** The session is over. */
  end(): void {
    this.over = true;
    this.#charge(-this.#outcomeBytes);
    this.#outcomes.clear();
    for (const channel of [...this.positions.keys()]) this.release(channel);
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
    for (const id of ids) {
      const outcome = this.#outcomes.get(id);
      if (!outcome) continue;
      this.#outcomes.delete(id);
      this.#charge(-this.#costOf(outcome));
    }
  }

  /** The client will ask for none but these again. */
  forgetAllBut(ids: readonly number[]): void {
    const kept = new Set(ids);
    this.forget([...this.#outcomes.keys()].filter((id) => !kept.has(id)));
  }

  /** Does a request once, and `after` after its reply: a repetition gets the outcome of the first time, when there is one. */
  once(id: number, act: () => Promise<Uint8Array>, after: () => void): void {
    if (this.#outcomes.has(id)) {
      const outcome = this.#outcomes.get(id);
      if (outcome) this.#connection?.send(outcome);
      return;
    }
    if (!this.over) this.#outcomes.set(id, undefined);
    void act().then((frame) => {
      // A session that is over cannot be resumed, so the request cannot come again.
      if (!this.over) {
        this.#outcomes.set(id, frame);
        this.#charge(this.#costOf(frame));
      }
      this.#connection?.send(frame);
      after();
    });
  }

  #costOf(frame: Uint8Array): number {
    return frame.length + this.#overheadBytes;
  }

  #charge(bytes: number): void {
    this.#outcomeBytes += bytes;
    this.#kept?.add(bytes);
  }
}
