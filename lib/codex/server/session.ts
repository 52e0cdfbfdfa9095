// A session of this dialect: the processes that its client started, by the client's own ids.
import type { Channel } from "../../server/channel.ts";
import { Session, type SessionConnection } from "../../server/session.ts";
import type { Feed, FeedTarget } from "./feed.ts";

/** A process under its client's id. */
export interface ProcessEntry {
  /** Settles with the outcome of the start; undefined when it failed. Calls on the process wait for it. */
  readonly started: Promise<StartedProcess | undefined>;
}

/** A started process. */
export interface StartedProcess {
  readonly id: string;
  readonly channel: Channel;
  readonly feed: Feed;
}

/** A connection, as its session sees it. */
export interface Attachment extends SessionConnection, FeedTarget {
  /** Another connection asks for this session: closes the connection unless its peer proves to be alive. */
  probe(): void;
}

/** A client across any number of connections, found by its session id. Its processes end as soon as the session does. */
export class CodexSession extends Session {
  /** By the client's id, until the process is removed. */
  readonly processes = new Map<string, ProcessEntry>();
  /** Processes that run or can still be read. */
  readonly started = new Map<Channel, StartedProcess>();
  #attachment: Attachment | undefined;

  constructor() {
    super("control", { graceMs: 0 });
  }

  override get ownsNothing(): boolean {
    return super.ownsNothing && this.processes.size === 0;
  }

  /** The current connection. */
  get attachment(): Attachment | undefined {
    return this.#attachment;
  }

  override attach(connection: Attachment): void {
    this.#attachment = connection;
    super.attach(connection);
  }

  override detach(connection: Attachment): boolean {
    if (!super.detach(connection)) return false;
    this.#attachment = undefined;
    for (const { feed } of this.started.values()) feed.detach();
    return true;
  }

  /** Drops a removed process. */
  override release(channel: Channel): void {
    super.release(channel);
    const process = this.started.get(channel);
    if (!process) return;
    process.feed.end();
    this.started.delete(channel);
    this.processes.delete(process.id);
  }

  override end(): void {
    super.end();
    for (const channel of [...this.started.keys()]) this.release(channel);
  }
}
