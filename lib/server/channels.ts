// The processes that this server's connections have dealt with: found once, then the same object for everybody.
import type { ProcessAddress, ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { Channel } from "./channel.ts";

/** Finds channels and makes them. */
export class Channels {
  readonly #backend: Backend;
  readonly #byIncarnation = new Map<string, Channel>();
  /** Promises by process id, so that calls on a process keep their order while it is being looked up. */
  readonly #found = new Map<string, Promise<Channel>>();
  #lastId = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Starts a process; the same incarnation again gives the same process. */
  async start(spec: ProcessSpec, incarnation: string): Promise<Channel> {
    const channel = this.#channelOf(await this.#backend.start(spec, { incarnation }));
    this.#found.set(channel.process.id, Promise.resolve(channel));
    return channel;
  }

  /** The present process of an id. */
  find(processId: string): Promise<Channel> {
    const known = this.#found.get(processId);
    if (known) return known;
    const found = this.#backend.attach(processId).then((process) => this.#channelOf(process));
    this.#found.set(processId, found);
    found.catch(() => {
      if (this.#found.get(processId) === found) this.#found.delete(processId);
    });
    return found;
  }

  /** The process of an id in this very life. Rejects with PROCESS_UNKNOWN for another one. */
  async at({ processId, incarnation }: ProcessAddress): Promise<Channel> {
    let channel = await this.find(processId);
    if (channel.process.incarnation !== incarnation) {
      // What is remembered may be the life before: a relay does not hear of everything.
      this.#found.delete(processId);
      channel = await this.find(processId);
    }
    if (channel.process.incarnation === incarnation) return channel;
    const message = `the life ${incarnation} of process ${processId} is over; another process has its id`;
    throw new ExecwireError("PROCESS_UNKNOWN", message, { data: { processId } });
  }

  /** Forgets a process that the backend has removed. */
  forget({ processId, incarnation }: ProcessInfo): void {
    const channel = this.#byIncarnation.get(incarnation);
    if (!channel) return;
    channel.owner?.owned.delete(channel);
    for (const holder of channel.holders) holder.removed(channel);
    this.#byIncarnation.delete(incarnation);
    this.#found.delete(processId);
  }

  #channelOf(process: Process): Channel {
    let channel = this.#byIncarnation.get(process.incarnation);
    if (!channel) {
      this.#lastId += 1;
      channel = new Channel(this.#lastId, process);
      this.#byIncarnation.set(process.incarnation, channel);
    }
    return channel;
  }
}
