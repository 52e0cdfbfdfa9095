// Which sessions there are: those with a process, and the last facts of those that are over. Bounded: who is over longest goes
// first, who runs is never forgotten.
import { ExecwireError } from "../errors.ts";
import { ExecSession } from "./session.ts";
import type { ExecResult, ExecSessionInfo } from "./session-types.ts";

/** A session that was told to its end. */
export interface OverSession {
  readonly info: ExecSessionInfo;
  /** The answer to every further call. */
  readonly result: ExecResult;
}

/** Sessions by their numbers, in the order of their starts. */
export class SessionTable {
  readonly #maxSessions: number;
  /** Undefined: reserved for a start on its way. */
  readonly #entries = new Map<number, ExecSession | OverSession | undefined>();
  /** Those whose number was given out: whoever has none will not ask. */
  readonly #known = new Set<number>();
  /** Numbers of an earlier program must not mean other sessions of this one, so they do not begin at 1. */
  #nextId = 1_000 + Math.floor(Math.random() * 9_000);

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  /** A number for a start. Throws LIMIT_EXCEEDED when nobody can make room. */
  reserve(): number {
    if (this.#entries.size >= this.#maxSessions) this.#makeRoom();
    const id = this.#nextId++;
    this.#entries.set(id, undefined);
    return id;
  }

  /** There will be no session of that number. */
  cancel(id: number): void {
    this.#entries.delete(id);
  }

  add(session: ExecSession): void {
    this.#entries.set(session.id, session);
  }

  /** The session of that number. Throws PROCESS_UNKNOWN. */
  get(id: number): ExecSession | OverSession {
    const found = this.#entries.get(id);
    if (found) return found;
    const message = `there is no session ${id}; it may have been stopped, or forgotten after its end`;
    throw new ExecwireError("PROCESS_UNKNOWN", message, { data: { sessionId: id } });
  }

  running(): ExecSession[] {
    return [...this.#entries.values()].filter((entry) => entry instanceof ExecSession);
  }

  list(): ExecSessionInfo[] {
    return [...this.#entries.values()].flatMap((entry) => (entry ? [entry.info] : []));
  }

  /** An answer gave the number out. */
  know(id: number): void {
    if (this.#entries.has(id)) this.#known.add(id);
  }

  /** All was told: what stays is the answer to who asks again. */
  settle(session: ExecSession, result: ExecResult): void {
    session.release();
    if (!this.#known.has(session.id)) return this.remove(session);
    const { input: _, ...last } = result;
    const over = { info: session.info, result: { ...last, head: "", tail: "", omittedBytes: 0, tookMs: 0 } };
    // Unless somebody has stopped it meanwhile.
    if (this.#entries.has(session.id)) this.#entries.set(session.id, over);
  }

  remove(entry: ExecSession | OverSession): void {
    const id = entry instanceof ExecSession ? entry.id : entry.info.sessionId;
    if (entry instanceof ExecSession) entry.release();
    this.#entries.delete(id);
    this.#known.delete(id);
  }

  clear(): void {
    for (const entry of [...this.#entries.values()]) if (entry) this.remove(entry);
  }

  /** Those that were told to their end go first; then those that ended and nobody asked for. */
  #makeRoom(): void {
    const entries = [...this.#entries.values()];
    const oldest =
      entries.find((entry) => entry && !(entry instanceof ExecSession)) ??
      entries.find((entry) => entry instanceof ExecSession && entry.hasEnded);
    if (oldest) return this.remove(oldest);
    const message = `${this.#entries.size} sessions are running, and no more than ${this.#maxSessions} may be; stop one first`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "sessions" } });
  }
}
