// What the connections of a server share.
import type { Limits } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { Backend } from "../process/backend.ts";
import type { Auth } from "./auth.ts";
import type { Channels } from "./channels.ts";
import type { Session, SessionConnection } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** Handed to each connection. */
export interface ServerParts {
  readonly backend: Backend;
  readonly channels: Channels;
  readonly sessions: Sessions;
  readonly auth: Auth;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Ends a session with the processes it started. */
  closeSession(session: Session, graceMs: number | undefined): Promise<void>;
  /** A connection was closed for what its peer did. */
  onRefused(code: number, reason: string): void;
  /** A connection is over. */
  onOver(connection: SessionConnection): void;
}
