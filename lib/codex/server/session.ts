// What a session of this dialect keeps: the processes that its client started, by the client's own ids.
import type { Channel } from "../../server/channel.ts";
import type { Kept, Session, SessionConnection } from "../../server/session.ts";
import type { Feed, FeedTarget } from "./feed.ts";

/** A process under its client's id. */
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
export type CodexSession = Session<ClientProcesses, Attachment>;

/** The processes of one client. */
export class ClientProcesses implements Kept {
  /** By the client's id, until the process is removed: the outcome of the start, undefined when it failed. Calls wait for it. */
  readonly byId = new Map<string, Promise<StartedProcess | undefined>>();
  /** Processes that run or can still be read. */
  readonly started = new Map<Channel, StartedProcess>();

  get isEmpty(): boolean {
    return this.byId.size === 0;
  }

  add(process: StartedProcess): void {
    process.channel.holders.add(this);
    this.started.set(process.channel, process);
  }

  detached(): void {
    for (const { feed } of this.started.values()) feed.detach();
  }

  removed(channel: Channel): void {
    const process = this.started.get(channel);
    if (!process) return;
    process.feed.end();
    channel.holders.delete(this);
    this.started.delete(channel);
    this.byId.delete(process.id);
  }

  end(): void {
    for (const channel of [...this.started.keys()]) this.removed(channel);
  }
}
