// The processes of one client, by id: which may be added, which have changed, and which stay readable after their end.
import { Subject } from "rxjs";
import type { ProcessInfo } from "../../../protocol/index.ts";
import type { Clock } from "../../clock.ts";
import { ExecwireError, refuse } from "../../errors.ts";
import { GuardedObservable, type ReportError } from "../../log/guarded-observable.ts";
import { type ClosedLimits, ClosedProcesses } from "./closed-processes.ts";
import type { KnownProcess } from "./known-process.ts";

/** Every process that a client has started and not removed. */
export class ProcessTable {
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly #changes = new Subject<ProcessInfo>();
  readonly #closed: ClosedProcesses;
  readonly #processes = new Map<string, KnownProcess>();
  readonly #incarnations = new Set<string>();

  constructor(limits: ClosedLimits, clock: Clock, onError: ReportError) {
    this.#closed = new ClosedProcesses(limits, clock);
    this.changes$ = new GuardedObservable(onError, (subscriber) => {
      const subscription = this.#changes.subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
  }

  /** In the order in which they were started. */
  [Symbol.iterator](): IterableIterator<KnownProcess> {
    return this.#processes.values();
  }

  find(processId: string): KnownProcess | undefined {
    return this.#processes.get(processId);
  }

  /** Throws PROCESS_EXISTS, or INVALID_PARAMS for an incarnation that belongs to another process. */
  admit(processId: string, incarnation: string): void {
    if (this.#processes.has(processId)) {
      const text = `process ${processId} already exists; its id becomes free when the process is removed`;
      throw new ExecwireError("PROCESS_EXISTS", text);
    }
    if (this.#incarnations.has(incarnation)) {
      refuse({ field: "incarnation", message: `${incarnation} belongs to another process` });
    }
  }

  add(process: KnownProcess): void {
    this.#processes.set(process.id, process);
    this.#incarnations.add(process.incarnation);
    this.#changes.next(process.info);
  }

  /** The state of a process has changed. */
  changed(process: KnownProcess): void {
    const { state, id } = process;
    if (state === "closed") this.#closed.keep(process);
    if (state === "removed") {
      this.#incarnations.delete(process.incarnation);
      if (this.#processes.get(id) === process) this.#processes.delete(id);
    }
    this.#changes.next(process.info);
  }

  /** No more events will arrive from any process. */
  end(reason: ExecwireError): void {
    for (const process of [...this]) if (!process.isOver) process.fail(reason);
    if (reason.code !== "CLOSED") return this.#changes.error(reason);
    this.#closed.clear();
    this.#changes.complete();
  }
}
