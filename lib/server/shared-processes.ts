// The processes that this server's connections have used: each is looked up once, and all connections share the object.
import type { ProcessAddress, ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend, StartOptions } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { SharedProcess } from "./shared-process.ts";

/** Finds and starts shared processes. */
export class SharedProcesses {
  readonly #backend: Backend;
  readonly #byIncarnation = new Map<string, SharedProcess>();
  /** Lookups by process id. Promises, so that calls on a process keep their order while the lookup is running. */
  readonly #found = new Map<string, Promise<SharedProcess>>();
  #lastId = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Starts a process. Repeating the call with the same incarnation returns the same process. */
  async start(spec: ProcessSpec, options: StartOptions): Promise<SharedProcess> {
    const shared = this.#shared(await this.#backend.start(spec, options));
    this.#found.set(shared.process.id, Promise.resolve(shared));
    return shared;
  }

  /** The current process with this id. */
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

  /** The process with this id and incarnation. Rejects with PROCESS_UNKNOWN if the id has another incarnation now. */
  async at({ processId, incarnation }: ProcessAddress): Promise<SharedProcess> {
    let shared = await this.find(processId);
    if (shared.process.incarnation !== incarnation) {
      // The cached process may be an earlier incarnation: a relay may miss the removal of a process.
      this.#found.delete(processId);
      shared = await this.find(processId);
    }
    if (shared.process.incarnation === incarnation) return shared;
    const message = `incarnation ${incarnation} of process ${processId} has ended; the id belongs to another process now`;
    throw new ExecwireError("PROCESS_UNKNOWN", message, { data: { processId } });
  }

  /** Drops a process that the backend has removed, and notifies its listeners. */
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
