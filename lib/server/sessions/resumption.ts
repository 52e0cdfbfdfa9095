// The state of a session of our own protocol: outcomes of requests, so that a request repeated after a reconnect is answered and
// not executed again, and the positions of lossless subscriptions.
import { randomBytes } from "node:crypto";
import { type HelloMessage, type Limits, limits, type Seq } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import type { MemoryBudget } from "../../log/memory-budget.ts";
import { type Role, secretsEqual } from "../auth.ts";
import type { SharedProcess } from "../shared-process.ts";
import { AckedPosition } from "./acked-position.ts";
import type { Session, SessionState } from "./session.ts";
import type { Sessions } from "./sessions.ts";

type ResumeRequest = NonNullable<HelloMessage["resume"]>;

/** A session of our own protocol. */
export type NativeSession = Session<Resumption>;

/** The session that a client may resume. Throws SESSION_UNKNOWN, with the same message for a wrong id and a wrong secret. */
export function resume(sessions: Sessions, { sessionId, secret, pending }: ResumeRequest, role: Role): NativeSession {
  const session = sessions.find(sessionId) as NativeSession | undefined;
  const state = session?.state;
  if (!(state instanceof Resumption) || !secretsEqual(state.secret, secret) || session?.role !== role) {
    throw new ExecwireError("SESSION_UNKNOWN", "unknown session; it may have expired, which ends its processes");
  }
  state.forgetAllBut(pending);
  return session;
}

/** Outcomes and positions of one client. */
export class Resumption implements SessionState {
  /** A client that presents it may resume the session. It appears only in the welcome message. */
  readonly secret = randomBytes(32).toString("base64url");
  readonly #positions = new Map<SharedProcess, AckedPosition>();
  /** Outcomes by request id; undefined while the request is running. */
  readonly #outcomes = new Map<number, Uint8Array | undefined>();
  #bytes = 0;
  readonly #budget: MemoryBudget | undefined;
  readonly #overheadBytes: number;
  #isOver = false;

  /** `budget` is shared with other sessions. Each kept reply is charged `overheadBytes` in addition to its own bytes. */
  constructor(budget?: MemoryBudget, overheadBytes: number = limits.frameOverheadBytes) {
    this.#budget = budget;
    this.#overheadBytes = overheadBytes;
  }

  get isEmpty(): boolean {
    return this.#positions.size === 0 && this.#outcomes.size === 0;
  }

  /** Whether the request is running, or its outcome is kept. */
  knows(id: number): boolean {
    return this.#outcomes.has(id);
  }

  /** Whether one more request would exceed a limit of this session, or of all sessions together. */
  isFull({ requests, sessionRepliesBytes }: Pick<Limits, "requests" | "sessionRepliesBytes">): boolean {
    return this.#outcomes.size >= requests || this.#bytes > sessionRepliesBytes || this.#budget?.over === true;
  }

  /** Drops these outcomes: the client will not repeat the requests. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) {
      const outcome = this.#outcomes.get(id);
      if (!outcome) continue;
      this.#outcomes.delete(id);
      this.#charge(-this.#costOf(outcome));
    }
  }

  /** Drops all other outcomes: the client may repeat only these requests. */
  forgetAllBut(ids: readonly number[]): void {
    const kept = new Set(ids);
    this.forget([...this.#outcomes.keys()].filter((id) => !kept.has(id)));
  }

  /** Runs a request once, then calls `reply` and `after`. A repeated request gets the first outcome, once it is known. */
  once(id: number, act: () => Promise<Uint8Array>, reply: (frame: Uint8Array) => void, after: () => void): void {
    if (this.#outcomes.has(id)) {
      const outcome = this.#outcomes.get(id);
      if (outcome) reply(outcome);
      return;
    }
    if (!this.#isOver) this.#outcomes.set(id, undefined);
    void act().then((frame) => {
      // An ended session cannot be resumed, so the request cannot be repeated.
      if (!this.#isOver) {
        this.#outcomes.set(id, frame);
        this.#charge(this.#costOf(frame));
      }
      reply(frame);
      after();
    });
  }

  /** The position of the lossless subscription to a process; the client has read up to `acked`. */
  positionOf(shared: SharedProcess, acked: Seq): AckedPosition {
    const known = this.#positions.get(shared);
    if (known?.isLive) {
      known.moveTo(acked);
      return known;
    }
    const position = new AckedPosition(shared.log, acked);
    this.#positions.set(shared, position);
    shared.removalListeners.add(this);
    return position;
  }

  /** Drops the position in a process. */
  release(shared: SharedProcess): void {
    this.#positions.get(shared)?.release();
    this.#positions.delete(shared);
    shared.removalListeners.delete(this);
  }

  readonly removed = (shared: SharedProcess): void => this.release(shared);

  end(): void {
    this.#isOver = true;
    this.#charge(-this.#bytes);
    this.#outcomes.clear();
    for (const shared of [...this.#positions.keys()]) this.release(shared);
  }

  #costOf(frame: Uint8Array): number {
    return frame.length + this.#overheadBytes;
  }

  #charge(bytes: number): void {
    this.#bytes += bytes;
    this.#budget?.add(bytes);
  }
}
