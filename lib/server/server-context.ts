// What the connections of a server share.
import type { Limits, ProcessInfo } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { Backend } from "../process/backend.ts";
import type { ServerMetrics } from "../telemetry/server-metrics.ts";
import type { Auth } from "./auth.ts";
import type { ConnectionSlots } from "./sessions/connection-slots.ts";
import type { Session, SessionConnection } from "./sessions/session.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { SharedProcesses } from "./shared-processes.ts";
import type { SharedResources } from "./shared-resources.ts";

/** A connection, as its server uses it. */
export interface ServedConnection extends SessionConnection {
  /** Closes the connection; its session stays. */
  close(code: number, reason: string): void;
  /** Whether it has not sent all output of an ended process to a client that counts on it. */
  readonly owesOutput: boolean;
  /** Called when a process has changed its state. */
  changed?(process: ProcessInfo): void;
}

/** The state and services that every connection gets. */
export interface ServerContext {
  readonly backend: Backend;
  readonly processes: SharedProcesses;
  readonly sessions: Sessions;
  readonly slots: ConnectionSlots;
  readonly auth: Auth;
  readonly limits: Limits;
  readonly metrics: ServerMetrics;
  readonly clock: Clock;
  readonly resources: SharedResources;
  /** Ends a session and the processes it started. */
  closeSession(session: Session, graceMs: number | undefined): Promise<void>;
  /** Called when a connection is closed because of what its peer did. */
  onRefused(code: number, reason: string): void;
  /** Called when a connection has ended. */
  onOver(connection: ServedConnection): void;
}
