// The state of a session of this dialect: the processes that its client started, by the client's own ids.

import type { Session, SessionConnection, SessionState } from "../../server/sessions/session.ts";
import type { SharedProcess } from "../../server/shared-process.ts";
import type { CodexSubscription, PushTarget } from "./codex-subscription.ts";
import type { CodexNetworkClient, NetworkName } from "./network/network-client.ts";

/** A process under its client's id. */
export interface StartedProcess {
  readonly id: string;
  readonly shared: SharedProcess;
  readonly subscription: CodexSubscription;
}

/** What a client's id stands for. */
export interface ClientEntry {
  /** The outcome of the start, undefined when it failed. */
  readonly started: Promise<StartedProcess | undefined>;
  /** Ends a start that is not over; undefined once it is. */
  cancel?: (() => void) | undefined;
}

/** A connection, as its session sees it. */
export interface Attachment extends SessionConnection, PushTarget {
  readonly network: CodexNetworkClient;
  /** Another connection asks for this session: closes the connection unless its peer proves to be alive. */
  probe(): void;
}

/** A client across any number of connections, found by its session id. Its processes end as soon as the session does. */
export type CodexSession = Session<ClientProcesses, Attachment>;

/** The processes of one client. */
export class ClientProcesses implements SessionState {
  /** By the client's id, until the process is removed. */
  readonly byId = new Map<string, ClientEntry>();
  /** Processes that run or can still be read. */
  readonly started = new Map<SharedProcess, StartedProcess>();
  /** Processes with a network that the client controls, by incarnation. */
  readonly networks = new Map<string, NetworkName>();

  get isEmpty(): boolean {
    return this.byId.size === 0;
  }

  add(process: StartedProcess): void {
    process.shared.removalListeners.add(this);
    this.started.set(process.shared, process);
  }

  detached(): void {
    for (const { subscription } of this.started.values()) subscription.detach();
  }

  removed(shared: SharedProcess): void {
    const process = this.started.get(shared);
    if (!process) return;
    process.subscription.end();
    shared.removalListeners.delete(this);
    this.started.delete(shared);
    this.byId.delete(process.id);
    this.networks.delete(shared.process.incarnation);
  }

  end(): void {
    for (const shared of [...this.started.keys()]) this.removed(shared);
  }
}
