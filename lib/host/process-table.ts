// The processes of a backend by id: which starts are allowed, state changes, and how long closed processes stay. A start
// repeated with the same incarnation returns the process of the first one.
import { Subject } from "rxjs";
import type { ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { GuardedObservable, type ReportError } from "../log/guarded-observable.ts";
import type { MemoryBudget } from "../log/memory-budget.ts";
import { type Retainable, Retention, type RetentionLimits } from "./retention.ts";
import { startDigest } from "./start-digest.ts";

/** A process in the table. */
export interface TableProcess extends Retainable {
  readonly info: ProcessInfo;
}

/** Bounds of a table. */
export interface TableLimits extends RetentionLimits {
  /** Most processes that are not closed. Infinity where another host checks the limit. */
  readonly liveProcesses: number;
}

/** Options of a table, from its backend. */
export interface TableOptions<P> {
  readonly limits: TableLimits;
  readonly clock: Clock;
  readonly onError: ReportError;
  /** Charged with the memory of each process, without its log. */
  readonly budget?: MemoryBudget;
  /** Called with a closed process whose retention has ended. Must make its state `removed`. */
  readonly remove: (process: P) => void;
}

/** Id and incarnation of a process that is about to start. */
export interface StartNames {
  readonly processId: string;
  readonly incarnation: string;
}

interface Row<P> {
  readonly process: P;
  readonly digest: string;
}

/** Every process that was started and is not removed. */
export class ProcessTable<P extends TableProcess> {
  /** State changes of every process. Hot. */
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly #changes = new Subject<ProcessInfo>();
  readonly #limits: TableLimits;
  readonly #budget: MemoryBudget | undefined;
  readonly #retention: Retention<P>;
  readonly #rows = new Map<string, Row<P>>();
  /** By incarnation, until the process is removed: an incarnation must not get a second process under another id. */
  readonly #incarnations = new Map<string, P>();
  readonly #live = new Set<P>();
  #refusal: ExecwireError | undefined;

  constructor({ limits, clock, onError, budget, remove }: TableOptions<P>) {
    this.#limits = limits;
    this.#budget = budget;
    this.#retention = new Retention(limits, clock, remove);
    this.changes$ = new GuardedObservable(onError, (subscriber) => {
      const subscription = this.#changes.subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
  }

  /** All processes, in the order of their starts. */
  *[Symbol.iterator](): IterableIterator<P> {
    for (const { process } of this.#rows.values()) yield process;
  }

  find(processId: string): P | undefined {
    return this.#rows.get(processId)?.process;
  }

  /**
   * Returns the process of this incarnation, or a new one from `create`; `begin` is called when the new one is in the table.
   * Throws INVALID_PARAMS for an incarnation with another spec or another id, PROCESS_EXISTS or LIMIT_EXCEEDED.
   */
  start(
    spec: ProcessSpec,
    incarnation: string,
    { create, begin }: { create(names: StartNames): P; begin(process: P): void },
  ): P {
    const processId = spec.processId ?? incarnation;
    const digest = startDigest(spec);
    const known = this.#rows.get(processId);
    if (known?.process.info.incarnation === incarnation) {
      if (known.digest !== digest)
        refuse(problem(`${incarnation} was started with another spec; use a new incarnation`));
      return known.process;
    }
    this.#checkNew(processId, incarnation);
    const process = create({ processId, incarnation });
    this.#rows.set(processId, { process, digest });
    this.#incarnations.set(incarnation, process);
    this.#live.add(process);
    this.#budget?.add(process.cost);
    this.#changes.next(process.info);
    begin(process);
    return process;
  }

  /** Refuses new starts with this error from now on. */
  refuseStarts(error: ExecwireError): void {
    this.#refusal = error;
  }

  /** Must be called after each state change; `info` has the new state. */
  changed(process: P, info: ProcessInfo): void {
    const { state, processId, incarnation } = info;
    if (state === "closed" || state === "removed") this.#live.delete(process);
    if (state === "closed") this.#retention.keep(process);
    if (state === "removed") {
      if (this.#incarnations.delete(incarnation)) this.#budget?.add(-process.cost);
      if (this.find(processId) === process) this.#rows.delete(processId);
    }
    this.#changes.next(info);
  }

  /** Removes the closed processes and completes `changes$`. With an error, only fails `changes$`: later changes are unknown. */
  end(error?: ExecwireError): void {
    if (error) return this.#changes.error(error);
    this.#retention.clear();
    this.#changes.complete();
  }

  #checkNew(processId: string, incarnation: string): void {
    if (this.#refusal) throw this.#refusal;
    if (this.#rows.has(processId)) {
      const message = `process ${processId} already exists; choose another id, or wait until that process is removed`;
      throw new ExecwireError("PROCESS_EXISTS", message);
    }
    if (this.#incarnations.has(incarnation))
      refuse(problem(`${incarnation} belongs to another process; use a new incarnation`));
    const [live, { liveProcesses }] = [this.#live.size, this.#limits];
    if (live < liveProcesses) return;
    const message = `${live} processes are running, the limit liveProcesses is ${liveProcesses}`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "liveProcesses" } });
  }
}

function problem(message: string): { readonly field: string; readonly message: string } {
  return { field: "incarnation", message };
}
