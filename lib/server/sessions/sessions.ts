// The sessions of a server: found by id, and ended when their client did not reconnect in time. Each role has its own limit, and
// a detached session that owns nothing makes room for a new one, so viewers cannot lock out other clients.
import type { Limits } from "../../../protocol/index.ts";
import type { Cancel, Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import type { Role } from "../auth.ts";
import type { Session, SessionConnection } from "./session.ts";

/** Limits on the sessions of a server. */
export type SessionLimits = Pick<Limits, "sessions" | "viewSessions" | "sessionTtlMs" | "viewSessionTtlMs">;

/** Opens, finds and ends sessions. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #counts: Record<Role, number> = { control: 0, view: 0 };
  /** Timers of detached sessions, longest detached first. */
  readonly #expiries = new Map<Session, Cancel>();
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #onEnd: (session: Session) => unknown;

  /** `onEnd` is called when a session has ended. */
  constructor(clock: Clock, limits: SessionLimits, onEnd: (session: Session) => unknown) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  /** How long a session of this role survives without a connection. */
  ttlMs(role: Role): number {
    const { sessionTtlMs, viewSessionTtlMs } = this.#limits;
    return role === "view" ? Math.min(viewSessionTtlMs, sessionTtlMs) : sessionTtlMs;
  }

  /** Adds a session. Throws LIMIT_EXCEEDED if too many sessions own something or have a connection. */
  add<S extends Session>(session: S): S {
    const { role } = session;
    const limit = role === "view" ? "viewSessions" : "sessions";
    const max = this.#limits[limit];
    if (this.#counts[role] >= max && !this.#endOldest(role)) {
      const message = `too many sessions: ${limit} is ${max}`;
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit } });
    }
    this.#sessions.set(session.id, session);
    this.#counts[role] += 1;
    return session;
  }

  /** Ends the longest detached session that owns nothing; false if there is none. */
  #endOldest(role: Role): boolean {
    for (const session of this.#expiries.keys()) {
      if (session.role !== role || !session.ownsNothing) continue;
      this.end(session);
      return true;
    }
    return false;
  }

  /** The session with this id. The protocol checks whether the client may resume it. */
  find(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Gives the session a connection; it does not expire while it has one. */
  attach(session: Session, connection: SessionConnection): void {
    this.#expiries.get(session)?.();
    this.#expiries.delete(session);
    session.attach(connection);
  }

  /** The connection was lost: the session expires after its TTL, unless another connection has resumed it. */
  detach(session: Session, connection: SessionConnection): void {
    if (!session.detach(connection) || !this.#sessions.has(session.id)) return;
    this.#expiries.set(
      session,
      this.#clock.after(this.ttlMs(session.role), () => this.end(session), { background: true }),
    );
  }

  /** Ends a session now. */
  end(session: Session): void {
    if (!this.#remove(session)) return;
    session.end();
    this.#onEnd(session);
  }

  /** Ends all sessions. Those with a connection keep what their clients have not read until the returned function is called. */
  endAll(): () => void {
    const connected = [...this.#sessions.values()].filter(({ connection }) => connection !== undefined);
    for (const session of connected) {
      this.#remove(session);
      session.stop();
      this.#onEnd(session);
    }
    for (const session of this.#sessions.values()) this.end(session);
    return () => {
      for (const session of connected) session.end();
    };
  }

  #remove(session: Session): boolean {
    this.#expiries.get(session)?.();
    this.#expiries.delete(session);
    const isRemoved = this.#sessions.delete(session.id);
    if (isRemoved) this.#counts[session.role] -= 1;
    return isRemoved;
  }
}
