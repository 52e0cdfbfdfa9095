// The processes that this server's connections have dealt with: found once, then the same object for everybody.
import type { ProcessAddress, ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { SharedProcess } from "./shared-process.ts";

/** Finds processes and makes them. */
export class SharedProcesses {
  readonly #backend: Backend;
  readonly #byIncarnation = new Map<string, SharedProcess>();
  /** Promises by process id, so that calls on a process keep their order while it is being looked up. */
  readonly #found = new Map<string, Promise<SharedProcess>>();
  #lastId = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Starts a process; the same incarnation again gives the same process. */
  async start(spec: ProcessSpec, incarnation: string): Promise<SharedProcess> {
    const shared = this.#shared(await this.#backend.start(spec, { incarnation }));
    this.#found.set(shared.process.id, Promise.resolve(shared));
    return shared;
  }

  /** The present process of an id. */
  find(processId: string): Promise<SharedProcess> {
    const known = this.#found.get(processId);
    if (known) return known;
    const found = this.#backend.attach(processId).then((process) => this.#shared(process));
    this.#found.set(processId, found);
    found.catch(() => {
      if (this.#found.get(processId) === found) this.#found.delete(processId);
    });
    return found;
  }

  /** The process of an id in this very life. Rejects with PROCESS_UNKNOWN for another one. */
  async at({ processId, incarnation }: ProcessAddress): Promise<SharedProcess> {
    let shared = await this.find(processId);
    if (shared.process.incarnation !== incarnation) {
      // What is remembered may be the life before: a relay does not hear of everything.
      this.#found.delete(processId);
      shared = await this.find(processId);
    }
    if (shared.process.incarnation === incarnation) return shared;
    const message = `the life ${incarnation} of process ${processId} is over; another process has its id`;
    throw new ExecwireError("PROCESS_UNKNOWN", message, { data: { processId } });
  }

  /** Forgets a process that the backend has removed. */
  forget({ processId, incarnation }: ProcessInfo): void {
    const shared = this.#byIncarnation.get(incarnation);
    if (!shared) return;
    shared.owner?.owned.delete(shared);
    for (const listener of shared.removalListeners) listener.removed(shared);
    this.#byIncarnation.delete(incarnation);
    this.#found.delete(processId);
  }

  #shared(process: Process): SharedProcess {
    let shared = this.#byIncarnation.get(process.incarnation);
    if (!shared) {
      this.#lastId += 1;
      shared = new SharedProcess(this.#lastId, process);
      this.#byIncarnation.set(process.incarnation, shared);
    }
    return shared;
  }
}
