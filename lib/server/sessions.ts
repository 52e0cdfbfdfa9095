// The sessions of a server: found again by their secret, ended when nobody came back in time.
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { type Role, secretsEqual } from "./auth.ts";
import type { Session, SessionConnection } from "./session.ts";

/** What a client shows to go on with a session. */
export interface ResumeRequest {
  readonly sessionId: string;
  readonly secret: string;
  readonly pending: readonly number[];
}

/** Opens, resumes and ends sessions. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #expiries = new Map<Session, Cancel>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #max: number;
  readonly #onEnd: (session: Session) => unknown;

  /** `onEnd` is called for a session that is over for good. */
  constructor(clock: Clock, ttlMs: number, max: number, onEnd: (session: Session) => unknown) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#max = max;
    this.#onEnd = onEnd;
  }

  /** Takes a new session in. Throws LIMIT_EXCEEDED when there are too many. */
  add<S extends Session>(session: S): S {
    if (this.#sessions.size >= this.#max) {
      throw new ExecwireError("LIMIT_EXCEEDED", `the server has ${this.#max} sessions already`, {
        data: { limit: "sessions" },
      });
    }
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of an id. Whether the one who asks is entitled to it is for the caller to know. */
  find(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  /** The session that `resume` is entitled to. Throws SESSION_UNKNOWN, the same for a wrong id and a wrong secret. */
  resume({ sessionId, secret, pending }: ResumeRequest, role: Role): Session {
    const session = this.#sessions.get(sessionId);
    if (!session || !secretsEqual(session.secret, secret) || session.role !== role) {
      throw new ExecwireError(
        "SESSION_UNKNOWN",
        "there is no such session, or no more: its processes may have been ended",
      );
    }
    session.forgetAllBut(pending);
    return session;
  }

  /** The session has a connection: it cannot expire. */
  attach(session: Session, connection: SessionConnection): void {
    this.#expiries.get(session)?.();
    this.#expiries.delete(session);
    session.attach(connection);
  }

  /** The connection is gone; its time begins to run, unless another one took over. */
  detach(session: Session, connection: SessionConnection): void {
    if (!session.detach(connection) || !this.#sessions.has(session.id)) return;
    this.#expiries.set(
      session,
      this.#clock.after(this.#ttlMs, () => this.end(session), { background: true }),
    );
  }

  /** Ends a session now. */
  end(session: Session): void {
    this.#expiries.get(session)?.();
    this.#expiries.delete(session);
    if (!this.#sessions.delete(session.id)) return;
    session.end();
    this.#onEnd(session);
  }

  /** Ends all. */
  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }
}
