// The state that survives a lost connection, in every protocol: the client's identity, and the processes that end with its
// session.
import { randomUUID } from "node:crypto";
import { type NetworkWishes, type ProcessSpec, present } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import { terminateTree } from "../../process/end-tree.ts";
import type { NetworkController } from "../../process/network-controller.ts";
import type { Role } from "../auth.ts";
import { DETACHED, type NetworkClient } from "../sending/network-questions.ts";
import type { SharedProcess } from "../shared-process.ts";
import type { SharedProcesses } from "../shared-processes.ts";

/** The current connection of a session. */
export interface SessionConnection {
  send(frame: Uint8Array): void;
  /** The client's part in the managed networks of its processes. */
  readonly network?: NetworkClient;
  /** Called when another connection has resumed the session. */
  supersede(): void;
}

/** The state that a protocol keeps for a client that may reconnect. */
export interface SessionState {
  /** Whether nothing is lost when the session ends. */
  readonly isEmpty: boolean;
  /** Called when the connection is lost. */
  detached?(): void;
  /** Called when the session has ended. */
  end(): void;
}

/** One client across any number of connections, one at a time. */
export class Session<K extends SessionState = SessionState, C extends SessionConnection = SessionConnection> {
  readonly id = randomUUID();
  readonly role: Role;
  /** Time from SIGTERM to SIGKILL when its processes are ended; undefined means the server's default. */
  readonly graceMs: number | undefined;
  readonly state: K;
  /** Ids of the processes that are being started. */
  readonly starting = new Set<string>();
  /** The processes that end with this session. */
  readonly owned = new Set<SharedProcess>();
  /** The session has ended and starts no more processes. */
  over = false;
  /** The current connection. */
  connection: C | undefined;

  constructor(role: Role, state: K, graceMs?: number) {
    this.role = role;
    this.state = state;
    this.graceMs = graceMs;
  }

  /** Whether the session can end without losing a process or state. */
  get ownsNothing(): boolean {
    return this.starting.size === 0 && this.owned.size === 0 && this.state.isEmpty;
  }

  /** Starts a process that ends with the session, unless `onDetach` is `keep`. Rejects with CLOSED if the session has ended. */
  async start(
    processes: SharedProcesses,
    spec: ProcessSpec,
    incarnation: string,
    wishes: NetworkWishes = {},
    signal?: AbortSignal,
  ): Promise<SharedProcess> {
    if (this.over) throw new ExecwireError("CLOSED", "the session has ended and starts no more processes");
    const processId = spec.processId ?? incarnation;
    this.starting.add(processId);
    const shared = await processes
      .start(spec, present({ incarnation, ...this.#controller(incarnation, wishes), signal }))
      .finally(() => this.starting.delete(processId));
    // The first owner keeps the process: another client that repeats the start gets the process, but does not own it.
    if (spec.onDetach === "keep" || shared.owner) return shared;
    shared.owner = this;
    this.owned.add(shared);
    if (!this.over) return shared;
    await terminateTree(shared.process);
    throw new ExecwireError("CLOSED", "the session ended while the process was starting; the process was ended");
  }

  /** Of the connection that is current when something is asked or reported. */
  #controller(incarnation: string, { requests, decisions }: NetworkWishes): NetworkController {
    return {
      onNetworkRequest: requests
        ? (request, signal) => this.connection?.network?.ask(incarnation, request, signal) ?? DETACHED
        : undefined,
      onNetworkDecision: decisions ? (decision) => this.connection?.network?.report(incarnation, decision) : undefined,
    };
  }

  /** Makes `connection` the only connection. An earlier one is superseded. */
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

  /** Ends the session. */
  end(): void {
    this.stop();
    this.state.end();
  }

  /** Starts no more processes. Its client, while it is connected, still gets what it has not read. */
  stop(): void {
    this.over = true;
  }
}
