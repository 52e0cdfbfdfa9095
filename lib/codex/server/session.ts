// A session of this dialect: the processes that its client started, under the client's own names for them.

import type { Channel } from "../../server/channel.ts";
import { Session } from "../../server/session.ts";
import type { Feed } from "./feed.ts";

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

/** Asks a connection for a sign of life. */
export interface Provable {
  proveAlive(): void;
}

/** A client over any number of connections, found again by the id of its session. Its processes end at once with it. */
export class CodexSession extends Session {
  /** By the client's id, until they are removed. */
  readonly processes = new Map<string, CodexProcess>();
  /** Those that run or can still be read. */
  readonly started = new Map<Channel, StartedProcess>();
  /** The connection it is attached to. */
  attachedTo: Provable | undefined;

  constructor() {
    super("control", 0);
  }

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
