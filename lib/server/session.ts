// What survives a lost connection in any protocol: the identity of the client, and the processes that end with its session.
import { randomUUID } from "node:crypto";
import type { ProcessSpec } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Role } from "./auth.ts";
import type { SharedProcess } from "./shared-process.ts";
import type { SharedProcesses } from "./shared-processes.ts";

/** The connection that a session has at the moment. */
export interface SessionConnection {
  send(frame: Uint8Array): void;
  /** Another connection has taken the session over. */
  supersede(): void;
}

/** What a protocol keeps for a client that may come back. */
export interface SessionState {
  /** Whether nothing is lost when the session ends. */
  readonly isEmpty: boolean;
  /** The connection is lost. */
  detached?(): void;
  /** The session is over. */
  end(): void;
}

/** One client, over any number of connections, one at a time. */
export class Session<K extends SessionState = SessionState, C extends SessionConnection = SessionConnection> {
  readonly id = randomUUID();
  readonly role: Role;
  /** From SIGTERM to SIGKILL at its end; undefined for the server's. */
  readonly graceMs: number | undefined;
  readonly state: K;
  /** Ids of the processes it is starting. */
  readonly starting = new Set<string>();
  /** The processes it started. */
  readonly owned = new Set<SharedProcess>();
  /** It has ended: nothing is started for it. */
  over = false;
  /** The current one. */
  connection: C | undefined;

  constructor(role: Role, state: K, graceMs?: number) {
    this.role = role;
    this.state = state;
    this.graceMs = graceMs;
  }

  /** Whether no process and no state is lost when it ends. */
  get ownsNothing(): boolean {
    return this.starting.size === 0 && this.owned.size === 0 && this.state.isEmpty;
  }

  /** Starts a process that ends with the session, unless it is to be kept. Rejects with CLOSED when the session ended meanwhile. */
  async start(processes: SharedProcesses, spec: ProcessSpec, incarnation: string): Promise<SharedProcess> {
    const processId = spec.processId ?? incarnation;
    this.starting.add(processId);
    const shared = await processes.start(spec, incarnation).finally(() => this.starting.delete(processId));
    // The first owner stays: another client that repeats the start gets to see the process, and does not own it.
    if (spec.onDetach === "keep" || shared.owner) return shared;
    shared.owner = this;
    this.owned.add(shared);
    if (!this.over) return shared;
    await shared.process.terminate({ scope: "tree" });
    throw new ExecwireError("CLOSED", "the session ended while the process was being started; it is ended again");
  }

  /** The only connection from now on. An earlier one is closed. */
  attach(connection: C): void {
    const earlier = this.connection;
    this.connection = connection;
    earlier?.supersede();
  }

  /** Detaches the session if `connection` is the current one, and returns whether it was. */
  detach(connection: C): boolean {
    if (this.connection !== connection) return false;
    this.connection = undefined;
    this.state.detached?.();
    return true;
  }

  /** The session is over. */
  end(): void {
    this.over = true;
    this.state.end();
  }
}
