// The sessions of a server: found again by their ids, ended when no client came back in time. Each role has its own
// number of them, and a detached session that owns nothing makes room for a new one: viewers lock nobody out.
import type { Limits } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import type { Role } from "./auth.ts";
import type { Session, SessionConnection } from "./session.ts";

/** Bounds of the sessions of a server. */
export type SessionLimits = Pick<Limits, "sessions" | "viewSessions" | "sessionTtlMs" | "viewSessionTtlMs">;

/** Opens, finds and ends sessions. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #counts: Record<Role, number> = { control: 0, view: 0 };
  /** Of the detached ones, the longest detached first. */
  readonly #expiries = new Map<Session, Cancel>();
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #onEnd: (session: Session) => unknown;

  /** `onEnd` is called for a session that is over for good. */
  constructor(clock: Clock, limits: SessionLimits, onEnd: (session: Session) => unknown) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  /** How long a session of that role outlives its connection. */
  ttlMs(role: Role): number {
    const { sessionTtlMs, viewSessionTtlMs } = this.#limits;
    return role === "view" ? Math.min(viewSessionTtlMs, sessionTtlMs) : sessionTtlMs;
  }

  /** Takes a new session in. Throws LIMIT_EXCEEDED when there are too many that own something or have a connection. */
  add<S extends Session>(session: S): S {
    const { role } = session;
    const limit = role === "view" ? "viewSessions" : "sessions";
    const max = this.#limits[limit];
    if (this.#counts[role] >= max && !this.#endOldest(role)) {
      const message = `the server has too many sessions already: ${limit} is ${max}`;
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit } });
    }
    this.#sessions.set(session.id, session);
    this.#counts[role] += 1;
    return session;
  }

  /** Ends the session that is detached longest of those that own nothing; false when there is none. */
  #endOldest(role: Role): boolean {
    for (const session of this.#expiries.keys()) {
      if (session.role !== role || !session.ownsNothing) continue;
      this.end(session);
      return true;
    }
    return false;
  }

  /** The session of an id. Its protocol checks whether a client is entitled to it. */
  find(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
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
      this.#clock.after(this.ttlMs(session.role), () => this.end(session), { background: true }),
    );
  }

  /** Ends a session now. */
  end(session: Session): void {
    this.#expiries.get(session)?.();
    this.#expiries.delete(session);
    if (!this.#sessions.delete(session.id)) return;
    this.#counts[session.role] -= 1;
    session.end();
    this.#onEnd(session);
  }

  /** Ends all. */
  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session);
  }
}
