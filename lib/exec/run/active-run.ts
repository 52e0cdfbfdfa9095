// A run from the call to its result: starts the process, reads its output to the end, and terminates it after a timeout or abort.
//
// Invariants
// 1. A started process is read to its end or terminated, also when its start is confirmed only after the run is over.
// 2. With a timeout, there is a result in bounded time, even if the process or its host hangs.
// 3. The reader waits only for the process, so it loses no output and never slows the process down.
import type { Observable } from "rxjs";
import { type ExitedEvent, type ProcessSpec, present } from "../../../protocol/index.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { ExecwireError, refuse } from "../../errors.ts";
import { GuardedObservable, guarded, type ReportError, reportToConsole } from "../../log/guarded-observable.ts";
import type { Backend } from "../../process/backend.ts";
import { terminateTree } from "../../process/end-tree.ts";
import type { Process } from "../../process/process.ts";
import { Capture, type RunChunk } from "./capture.ts";
import { deliverInput, holdersOf, within } from "./commands.ts";
import { type RunResult, resultOf } from "./result.ts";
import { RunDeadlines } from "./run-deadlines.ts";
import { checkRunOptions, planOf, type RunOptions, type RunPlan } from "./run-options.ts";

/** How long a backend may take to list the holders of the streams, or to terminate them, when the rest of the result is known. */
const ANSWER_MS = 1_000;

const ignore = () => undefined;

/** One run, from its start to its result. */
export class ActiveRun {
  readonly process: Promise<Process>;
  readonly chunks$: Observable<RunChunk>;
  readonly result: Promise<RunResult>;
  readonly #backend: Backend;
  readonly #options: RunOptions;
  readonly #plan: RunPlan;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** Chosen here, so that a start that hangs can be distinguished from another process with the same id. */
  readonly #incarnation = crypto.randomUUID();
  readonly #processId: string;
  readonly #capture: Capture;
  readonly #deadlines: RunDeadlines;
  #report: ReportError = reportToConsole;
  #process: Process | undefined;
  #exited: ExitedEvent | undefined;
  #durationMs: number | undefined;
  #isStartRequested = false;
  /** Ends the current wait, for the start or for output, when the run is over. */
  #stop: () => void = ignore;

  constructor(backend: Backend, spec: ProcessSpec, options: RunOptions) {
    const { signal, clock = systemClock } = options;
    this.#backend = backend;
    this.#options = options;
    this.#plan = planOf(options, spec);
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#processId = spec.processId ?? this.#incarnation;
    this.#capture = new Capture(this.#plan.capBytes);
    this.#deadlines = new RunDeadlines({
      ...this.#plan,
      clock,
      signal,
      onExpired: () => this.#onExpired(),
      onOver: () => this.#stop(),
    });
    this.chunks$ = guarded((error) => this.#report(error), this.#capture.chunks);
    const starting = this.#start(spec);
    this.result = this.#run(starting);
    this.process = starting.then((process) => process ?? Promise.reject(this.#neverRan()));
    // A failed start rejects both promises. A caller that awaits only one must not get an unhandled rejection of the other.
    this.process.catch(ignore);
    this.result.catch(ignore);
  }

  async #run(starting: Promise<Process | undefined>): Promise<RunResult> {
    try {
      const process = await starting;
      if (process) await this.#follow(process);
      return await this.#finish(process);
    } finally {
      this.#deadlines.dispose();
      this.#capture.chunks.complete();
    }
  }

  /** Resolves with undefined if the run is over before the process has started. */
  async #start(spec: ProcessSpec): Promise<Process | undefined> {
    const { stdin } = this.#options;
    refuse(checkRunOptions(this.#options));
    this.#deadlines.start();
    if (this.#deadlines.expiry) return undefined;
    this.#isStartRequested = true;
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
      if (this.#deadlines.expiry && isCancelled(error)) return undefined;
      throw error;
    });
    // Invariant 1.
    if (!process) starting.then((started) => terminateTree(started, 0)).catch(ignore);
    else if (this.#deadlines.expiry) terminateTree(process, this.#plan.graceMs).catch(ignore);
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
        if (event.type === "output") this.#deadlines.onOutput();
      }
    } finally {
      exit.unsubscribe();
    }
    if (inputError) throw inputError;
  }

  async #finish(process: Process | undefined): Promise<RunResult> {
    const { drain, expiry } = this.#deadlines;
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
    this.#deadlines.onExit();
  }

  #onExpired(): void {
    // Errors need no handling: the log reports a lost connection, and the result a process that could not be ended.
    if (this.#process) terminateTree(this.#process, this.#plan.graceMs).catch(ignore);
    else if (this.#isStartRequested) this.#cancelStart().catch(ignore);
  }

  async #cancelStart(): Promise<void> {
    const found = await this.#backend.attach(this.#processId);
    if (found.incarnation === this.#incarnation) await terminateTree(found, this.#plan.graceMs);
  }

  #elapsed(): number {
    // The system clock may be set back meanwhile.
    return Math.max(0, this.#clock.now() - this.#startedAt);
  }

  #neverRan(): ExecwireError {
    return new ExecwireError("START_CANCELLED", `process ${this.#processId} was cancelled before it started`);
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof ExecwireError && error.code === "START_CANCELLED";
}
