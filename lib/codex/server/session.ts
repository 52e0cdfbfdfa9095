// A session of this dialect: the processes that its client started, under the client's own names for them.
import type { Channel } from "../../server/channel.ts";
import { Session, type SessionConnection } from "../../server/session.ts";
import type { Feed, FeedTarget } from "./feed.ts";

/** A process under its client's name. */
export interface CodexProcess {
  /** Settles with the outcome of the start: undefined when there is no process. Calls on the process wait for it. */
  readonly started: Promise<StartedProcess | undefined>;
}

/** A process that was started. */
export interface StartedProcess {
  readonly id: string;
  readonly channel: Channel;
  readonly feed: Feed;
}

/** A connection as its session sees it. */
export interface Attachment extends SessionConnection, FeedTarget {
  /** Somebody else wants the session: the connection ends, unless its peer shows that it is there. */
  demandProof(): void;
}

/** A client over any number of connections, found again by the id of its session. Its processes end at once with it. */
export class CodexSession extends Session {
  /** By the client's id, until they are removed. */
  readonly processes = new Map<string, CodexProcess>();
  /** Those that run or can still be read. */
  readonly started = new Map<Channel, StartedProcess>();
  #attachment: Attachment | undefined;

  constructor() {
    super("control", { graceMs: 0 });
  }

  override get ownsNothing(): boolean {
    return super.ownsNothing && this.processes.size === 0;
  }

  /** The connection of the moment. */
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

  /** Forgets a process that was removed. */
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
