// A run from its call to its result: starts the process, reads it to the end, and ends it when its time has come.
//
// Invariants
// 1. Whatever was started is read to its end or was told to end: also a process whose start is confirmed after the run is over.
// 2. With a timeout there is a result in bounded time, whatever the process or its host does.
// 3. The reader waits for nothing but the process, so nothing is lost and nothing is held back.
import type { Observable } from "rxjs";
import { type ExitedEvent, type ProcessSpec, present } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import type { Backend } from "../process/backend.ts";
import { terminateTree } from "../process/end-tree.ts";
import type { Process } from "../process/process.ts";
import { Capture, type RunChunk } from "./capture.ts";
import { deliverInput, holdersOf, within } from "./commands.ts";
import { Ending } from "./ending.ts";
import { checkRunOptions, planOf, type RunOptions, type RunPlan } from "./options.ts";
import { type RunResult, resultOf } from "./result.ts";

/** How long a backend may take to say who holds the streams, or to end them, when everything else is known. */
const ANSWER_MS = 1_000;

const ignore = () => undefined;

/** One run. */
export class ActiveRun {
  readonly process: Promise<Process>;
  readonly chunks$: Observable<RunChunk>;
  readonly result: Promise<RunResult>;
  readonly #backend: Backend;
  readonly #options: RunOptions;
  readonly #plan: RunPlan;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** Ours to choose, so that a start which hangs is told from another process of the same id. */
  readonly #incarnation = crypto.randomUUID();
  readonly #processId: string;
  readonly #capture: Capture;
  readonly #ending: Ending;
  #report: ReportError = reportToConsole;
  #process: Process | undefined;
  #exited: ExitedEvent | undefined;
  #durationMs: number | undefined;
  #isAsked = false;
  /** Wakes whoever waits for what nobody waits for any longer. */
  #stop: () => void = ignore;

  constructor(backend: Backend, spec: ProcessSpec, options: RunOptions) {
    const { signal, clock = systemClock } = options;
    this.#backend = backend;
    this.#options = options;
    this.#plan = planOf(options);
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#processId = spec.processId ?? this.#incarnation;
    this.#capture = new Capture(this.#plan.capBytes);
    this.#ending = new Ending({
      ...this.#plan,
      clock,
      signal,
      onExpired: () => this.#onExpired(),
      onOver: () => this.#stop(),
    });
    this.chunks$ = new GuardedObservable(
      (error) => this.#report(error),
      (subscriber) => {
        const subscription = this.#capture.chunks.subscribe(subscriber);
        return () => subscription.unsubscribe();
      },
    );
    const starting = this.#start(spec);
    this.result = this.#run(starting);
    this.process = starting.then((process) => process ?? Promise.reject(this.#neverRan()));
    // A start that fails fails both: who waits for the one must not be ended for not having waited for the other yet.
    this.process.catch(ignore);
    this.result.catch(ignore);
  }

  async #run(starting: Promise<Process | undefined>): Promise<RunResult> {
    try {
      const process = await starting;
      if (process) await this.#follow(process);
      return await this.#finish(process);
    } finally {
      this.#ending.dispose();
      this.#capture.chunks.complete();
    }
  }

  /** Resolves with undefined where the run is over before there is a process. */
  async #start(spec: ProcessSpec): Promise<Process | undefined> {
    const { stdin } = this.#options;
    refuse(checkRunOptions(this.#options));
    this.#ending.begin();
    if (this.#ending.expiry) return undefined;
    this.#isAsked = true;
    const starting = this.#backend.start(
      present({
        ...spec,
        processId: this.#processId,
        pipeStdin: stdin !== undefined && !spec.tty ? true : spec.pipeStdin,
      }),
      { incarnation: this.#incarnation },
    );
    const over = new Promise<undefined>((resolve) => {
      this.#stop = () => resolve(undefined);
    });
    const process = await Promise.race([starting, over]).catch((error: unknown) => {
      if (this.#ending.expiry && isCancelled(error)) return undefined;
      throw error;
    });
    // Invariant 1.
    if (!process) starting.then((late) => terminateTree(late, 0)).catch(ignore);
    else if (this.#ending.expiry) terminateTree(process, this.#plan.graceMs).catch(ignore);
    this.#process = process;
    return process;
  }

  async #follow(process: Process): Promise<void> {
    if (process.output$ instanceof GuardedObservable) this.#report = process.output$.report;
    const events = process.iterate({ delivery: "lossless" });
    this.#stop = () => void events.return();
    const exit = process.exit$.subscribe({ next: (exited) => this.#onExit(exited), error: ignore });
    let inputError: unknown;
    const { stdin } = this.#options;
    if (stdin !== undefined) {
      deliverInput(process, stdin).catch((error: unknown) => {
        inputError = error;
        terminateTree(process, 0).catch(ignore);
        this.#stop();
      });
    }
    try {
      for await (const event of events) {
        this.#capture.take(event);
        if (event.type === "output") this.#ending.heard();
      }
    } finally {
      exit.unsubscribe();
    }
    if (inputError) throw inputError;
  }

  async #finish(process: Process | undefined): Promise<RunResult> {
    const { drain, expiry } = this.#ending;
    const durationMs = this.#durationMs ?? this.#elapsed();
    const facts = { processId: this.#processId, exited: this.#exited, expiry, drain, durationMs };
    const sandbox = process?.info.sandbox ?? "none";
    if (!process || drain === "eof") return resultOf(this.#capture, this.#plan.capBytes, { ...facts, sandbox });
    const holders = await within(this.#clock, ANSWER_MS, holdersOf(process));
    if (this.#options.leftBehind === "terminate") {
      await within(this.#clock, ANSWER_MS, terminateTree(process, this.#plan.graceMs));
    }
    return resultOf(this.#capture, this.#plan.capBytes, { ...facts, sandbox, holders });
  }

  #onExit(exited: ExitedEvent): void {
    this.#exited = exited;
    this.#durationMs = this.#elapsed();
    this.#ending.exited();
  }

  #onExpired(): void {
    // A lost connection is told by the log, and a process that cannot be ended by the result.
    if (this.#process) terminateTree(this.#process, this.#plan.graceMs).catch(ignore);
    else if (this.#isAsked) this.#cancelStart().catch(ignore);
  }

  async #cancelStart(): Promise<void> {
    const found = await this.#backend.attach(this.#processId);
    if (found.incarnation === this.#incarnation) await terminateTree(found, this.#plan.graceMs);
  }

  #elapsed(): number {
    // The clock of the system may be set back meanwhile.
    return Math.max(0, this.#clock.now() - this.#startedAt);
  }

  #neverRan(): ExecwireError {
    return new ExecwireError("START_CANCELLED", `process ${this.#processId} was given up before it ran`);
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof ExecwireError && error.code === "START_CANCELLED";
}
