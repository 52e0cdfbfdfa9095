// The processes of a backend, by id: which starts are admitted, what has changed, and how long closed processes stay. Repeating
// a start with the same incarnation returns the process of the first start.
import { Subject } from "rxjs";
import type { ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { type GuardedObservable, guarded, type ReportError } from "../log/guarded-observable.ts";
import type { MemoryBudget } from "../log/memory-budget.ts";
import { type Retainable, Retention, type RetentionLimits } from "./retention.ts";
import { startDigest } from "./start-digest.ts";

/** A process of a backend. */
export interface TableProcess extends Retainable {
  readonly info: ProcessInfo;
}

/** Limits of a table. */
export interface TableLimits extends RetentionLimits {
  /** Processes that are not closed. Infinite where another host counts them. */
  readonly liveProcesses: number;
}

/** What a table needs from its backend. */
export interface TableOptions<P> {
  readonly limits: TableLimits;
  readonly clock: Clock;
  readonly onError: ReportError;
  /** Charged with the cost of each process, without its log. */
  readonly budget?: MemoryBudget;
  /** Called with a closed process that is dropped; its state becomes `removed`. */
  readonly remove: (process: P) => void;
}

/** The ids of a process that is about to start. */
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
  /** Each state change of any process. */
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly #changes = new Subject<ProcessInfo>();
  readonly #limits: TableLimits;
  readonly #budget: MemoryBudget | undefined;
  readonly #retention: Retention<P>;
  readonly #rows = new Map<string, Row<P>>();
  /** Of the processes in `#rows`. */
  readonly #incarnations = new Set<string>();
  readonly #live = new Set<P>();
  #refusal: ExecwireError | undefined;

  constructor({ limits, clock, onError, budget, remove }: TableOptions<P>) {
    this.#limits = limits;
    this.#budget = budget;
    this.#retention = new Retention(limits, clock, remove);
    this.changes$ = guarded(onError, this.#changes);
  }

  /** In the order in which they were started. */
  *[Symbol.iterator](): IterableIterator<P> {
    for (const { process } of this.#rows.values()) yield process;
  }

  find(processId: string): P | undefined {
    return this.#rows.get(processId)?.process;
  }

  /**
   * Returns the process that already has this incarnation, or a new one from `create`, for which `begin` is called once it is
   * in the table. Throws INVALID_PARAMS for an incarnation with another spec or another id, PROCESS_EXISTS or LIMIT_EXCEEDED.
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
      if (known.digest !== digest) refuse(field(`${incarnation} was started with another spec; use a new incarnation`));
      return known.process;
    }
    this.#checkNew(processId, incarnation);
    const process = create({ processId, incarnation });
    this.#rows.set(processId, { process, digest });
    this.#incarnations.add(incarnation);
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

  /** The state of a process has changed. */
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

  /**
   * Removes the closed processes and completes `changes$`; with an error, `changes$` fails instead, since later changes will
   * not be known.
   */
  end(error?: ExecwireError): void {
    if (error) return this.#changes.error(error);
    this.#retention.clear();
    this.#changes.complete();
  }

  #checkNew(processId: string, incarnation: string): void {
    if (this.#refusal) throw this.#refusal;
    if (this.#rows.has(processId)) {
      const message = `process ${processId} already exists; its id becomes free when the process is removed`;
      throw new ExecwireError("PROCESS_EXISTS", message);
    }
    if (this.#incarnations.has(incarnation))
      refuse(field(`${incarnation} belongs to another process; use a new incarnation`));
    const [live, { liveProcesses }] = [this.#live.size, this.#limits];
    if (live < liveProcesses) return;
    const message = `${live} processes are running, the limit liveProcesses is ${liveProcesses}`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "liveProcesses" } });
  }
}

function field(message: string): { readonly field: string; readonly message: string } {
  return { field: "incarnation", message };
}
