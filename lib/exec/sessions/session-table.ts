// The table of sessions: live ones with their process, and finished ones with their last result. Bounded: the oldest finished
// session is evicted first, and one with a running process never.
import { ExecwireError } from "../../errors.ts";
import { ExecSession } from "./session.ts";
import type { ExecResult, ExecSessionInfo } from "./session-types.ts";

/** A session whose exit and output have all been returned. */
export interface FinishedSession {
  readonly info: ExecSessionInfo;
  /** The answer to any further call. */
  readonly result: ExecResult;
}

/** Sessions by id, in the order of their starts. */
export class SessionTable {
  readonly #maxSessions: number;
  /** Undefined: reserved for a pending start. */
  readonly #entries = new Map<number, ExecSession | FinishedSession | undefined>();
  /** Ids that an answer has returned. No caller can ask for any other id. */
  readonly #returnedIds = new Set<number>();
  /** Starts at a random id, so that an id from an earlier run of the program does not name another session. */
  #nextId = 1_000 + Math.floor(Math.random() * 9_000);

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  /** Reserves an id for a start. Throws LIMIT_EXCEEDED if all sessions are running. */
  reserve(): number {
    if (this.#entries.size >= this.#maxSessions) this.#makeRoom();
    const id = this.#nextId++;
    this.#entries.set(id, undefined);
    return id;
  }

  /** Releases the id of a failed start. */
  cancel(id: number): void {
    this.#entries.delete(id);
  }

  add(session: ExecSession): void {
    this.#entries.set(session.id, session);
  }

  /** The session with this id. Throws PROCESS_UNKNOWN. */
  get(id: number): ExecSession | FinishedSession {
    const found = this.#entries.get(id);
    if (found) return found;
    const message = `there is no session ${id}; it may have been stopped, or removed after its end`;
    throw new ExecwireError("PROCESS_UNKNOWN", message, { data: { sessionId: id } });
  }

  running(): ExecSession[] {
    return [...this.#entries.values()].filter((entry) => entry instanceof ExecSession);
  }

  list(): ExecSessionInfo[] {
    return [...this.#entries.values()].flatMap((entry) => (entry ? [entry.info] : []));
  }

  /** Records that an answer returns this id. */
  markReturned(id: number): void {
    if (this.#entries.has(id)) this.#returnedIds.add(id);
  }

  /** All was returned: keeps only the result, for a caller that asks again. */
  finish(session: ExecSession, result: ExecResult): void {
    session.release();
    if (!this.#returnedIds.has(session.id)) return this.remove(session);
    const { input: _, ...last } = result;
    const finished = { info: session.info, result: { ...last, head: "", tail: "", omittedBytes: 0, tookMs: 0 } };
    // Unless another call has stopped the session meanwhile.
    if (this.#entries.has(session.id)) this.#entries.set(session.id, finished);
  }

  remove(entry: ExecSession | FinishedSession): void {
    const id = entry instanceof ExecSession ? entry.id : entry.info.sessionId;
    if (entry instanceof ExecSession) entry.release();
    this.#entries.delete(id);
    this.#returnedIds.delete(id);
  }

  clear(): void {
    for (const entry of [...this.#entries.values()]) if (entry) this.remove(entry);
  }

  /** Evicts the oldest finished session, or else the oldest that has ended with output unread. */
  #makeRoom(): void {
    const entries = [...this.#entries.values()];
    const oldest =
      entries.find((entry) => entry && !(entry instanceof ExecSession)) ??
      entries.find((entry) => entry instanceof ExecSession && entry.hasEnded);
    if (oldest) return this.remove(oldest);
    const message = `${this.#entries.size} sessions are running, the limit is ${this.#maxSessions}; stop one first`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "sessions" } });
  }
}
