// The local backend: owns the actors of all processes that this program supervises, but nothing of what they do.
import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import type { Meter } from "@opentelemetry/api";
import {
  checkGrace,
  checkStart,
  checkText,
  type DeliveryMode,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  type SandboxPolicy,
} from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { ProcessTable, type StartNames } from "../host/process-table.ts";
import { withDefaults } from "../limits.ts";
import { type GuardedObservable, type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import { MemoryBudget } from "../log/memory-budget.ts";
import type { Backend, CloseOptions, StartOptions } from "../process/backend.ts";
import { abortableStart } from "../process/end-tree.ts";
import type { NetworkController } from "../process/network-controller.ts";
import type { Process } from "../process/process.ts";
import { checkDescribable, describeStart } from "../process/process-info.ts";
import { unknownProcess } from "../process/refusals.ts";
import { SANDBOX_NAME } from "../sandbox/sandboxes.ts";
import type { Child, Leftover, Spawner } from "../spawn/child.ts";
import { Guard, type OnSupervisorDeath } from "../spawn/guard/guard.ts";
import { loadSpawner, type SpawnerName } from "../spawn/load-spawner.ts";
import { hasProc } from "../spawn/proc/proc.ts";
import { ownDirectory, shownDirectory } from "../spawn/start-state.ts";
import { ProcessEvents } from "../telemetry/process-events.ts";
import { followProcesses, type ProcessMetrics, processMetrics } from "../telemetry/process-metrics.ts";
import { prepareLaunch } from "./launch.ts";
import { LeftBehind } from "./left-behind.ts";
import { localProcess } from "./local-process.ts";
import { type ActorContext, ProcessActor } from "./process-actor.ts";
import { SpecSpawner } from "./spec-spawner.ts";

/** Options of a supervisor. */
export interface SupervisorOptions extends NetworkController {
  /** Overrides of the defaults in `protocol/limits.ts`. */
  readonly limits?: Partial<Limits>;
  /** How children are spawned. Default `auto`. */
  readonly spawner?: SpawnerName | (() => Promise<Spawner>);
  /**
   * Adopt orphaned descendants (Linux) and reap their zombies. Only for programs that start no children outside this
   * supervisor: those could be mistaken for descendants of its processes. Default false.
   */
  readonly subreaper?: boolean;
  /**
   * The sandbox of every process. A process's own may only be stricter: FORBIDDEN, unless that is proved. Its paths are resolved
   * when the supervisor is created.
   */
  readonly sandbox?: SandboxPolicy;
  /**
   * What happens to the processes when this program ends without `close` and cannot end them itself: by a signal for which it
   * has no listener, or by SIGKILL. `kill` (the default on Linux; elsewhere createSupervisor throws UNSUPPORTED): a small helper
   * process, started with the first process, ends them and their descendants. `keep`: nothing ends them.
   */
  readonly onSupervisorDeath?: OnSupervisorDeath;
  /**
   * Called with errors thrown by subscribers, with bugs, with SIGNAL_FAILED when the system does not permit to end a process by
   * its timeout or at close, and when the guard for `onSupervisorDeath` cannot start. Default: the console.
   */
  readonly onError?: ReportError;
  /** Where metrics are recorded. Default: the OpenTelemetry SDK that is registered now, if there is one. */
  readonly meter?: Meter;
  readonly clock?: Clock;
}

/** Listeners of one supervisor for one event: SIGCHLD, for exits and for orphans. */
const LISTENERS = 2;

/**
 * Creates a supervisor. `close` it, or the program stays alive as long as its processes; if it exits earlier, they are killed.
 */
export function createSupervisor(options: SupervisorOptions = {}): Supervisor {
  return new Supervisor(options);
}

/** Supervises processes of this machine. */
export class Supervisor implements Backend {
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly #table: ProcessTable<ProcessActor>;
  /** Processes that hold a child or may get one; a removed process can be among them. */
  readonly #unreleased = new Set<ProcessActor>();
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #onError: ReportError;
  readonly #metrics: ProcessMetrics;
  readonly #events: ProcessEvents;
  readonly #actorContext: ActorContext;
  readonly #leftBehind: LeftBehind;
  readonly #specSpawner: SpecSpawner;
  readonly #spawner: Promise<Spawner>;
  #madeSpawner: Spawner | undefined;
  readonly #guard: Guard | undefined;
  readonly #onExit = () => this.#killAll();
  #closing: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#limits = withDefaults(options.limits);
    this.#clock = options.clock ?? systemClock;
    this.#onError = options.onError ?? reportToConsole;
    this.#specSpawner = new SpecSpawner({
      clock: this.#clock,
      limits: this.#limits,
      spawner: () => this.#spawner,
      onSpawned: (child) => this.#onSpawned(child),
      onReleased: (pid, leftover) => this.#onReleased(pid, leftover),
      onError: this.#onError,
      own: options,
    });
    this.#leftBehind = new LeftBehind(this.#clock, (pid) => this.#guard?.forget(pid));
    const budget = new MemoryBudget(this.#limits.memoryBudgetBytes);
    this.#table = new ProcessTable({
      limits: this.#limits,
      clock: this.#clock,
      onError: this.#onError,
      budget,
      remove: (actor) => actor.post({ type: "remove" }),
    });
    this.changes$ = this.#table.changes$;
    this.#metrics = processMetrics(options.meter);
    const exitOf = ({ processId }: ProcessInfo) => this.#table.find(processId)?.log.exited;
    followProcesses(this.#metrics, this.changes$, (info) => exitOf(info)?.result);
    this.#events = new ProcessEvents(this.changes$, exitOf);
    this.#actorContext = {
      clock: this.#clock,
      limits: this.#limits,
      log: { ...this.#limits, budget, counts: this.#metrics },
      counts: this.#metrics,
      onChange: (actor, info) => this.#table.changed(actor, info),
      onReleased: (pid, leftover) => this.#onReleased(pid, leftover),
      onError: this.#onError,
    };
    const { spawner = "auto", subreaper = false, onSupervisorDeath = hasProc() ? "kill" : "keep" } = options;
    if (onSupervisorDeath === "kill") this.#guard = new Guard(this.#onError);
    this.#spawner = typeof spawner === "function" ? spawner() : loadSpawner({ spawner, subreaper, guard: this.#guard });
    const keep = (made: Spawner) => {
      this.#madeSpawner = made;
    };
    // The error is reported to the caller of `start`.
    this.#spawner.then(keep, () => undefined);
    // Each supervisor adds its own listeners to `process`; a dozen of them are no leak.
    process.setMaxListeners(process.getMaxListeners() + LISTENERS);
    process.on("exit", this.#onExit);
  }

  start(spec: ProcessSpec, options: StartOptions = {}): Promise<Process> {
    const { incarnation = randomUUID(), signal } = options;
    return abortableStart(() => this.#start(spec, incarnation, this.#specSpawner.controllerOf(options)), signal);
  }

  async #start(asked: ProcessSpec, incarnation: string, controller: NetworkController): Promise<Process> {
    refuse(checkStart(asked, incarnation, { ...this.#limits, rawBytes: true }));
    const spec = this.#specSpawner.confine(asked);
    if (spec.cwd !== undefined && !isAbsolute(spec.cwd)) {
      refuse({ field: "cwd", message: `must be an absolute path of this host, got ${spec.cwd}` });
    }
    checkDescribable(spec, this.#limits);
    const actor = this.#table.start(spec, incarnation, {
      create: (names) => this.#createActor(names, spec),
      begin: (created) => void this.#spawn(created, spec, ownDirectory(), controller),
    });
    await actor.started;
    return this.#processOf(actor, "lossless");
  }

  async attach(processId: string): Promise<Process> {
    refuse(checkText("processId", processId));
    const actor = this.#table.find(processId);
    if (!actor) throw unknownProcess(processId);
    return this.#processOf(actor, "gap");
  }

  async list(): Promise<readonly ProcessInfo[]> {
    return [...this.#table].map((actor) => actor.info);
  }

  async close(options: CloseOptions = {}): Promise<void> {
    refuse(checkGrace({ graceMs: options.graceMs }));
    this.#closing ??= this.#close(options.graceMs ?? this.#limits.graceMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #createActor(names: StartNames, spec: ProcessSpec): ProcessActor {
    const description = describeStart(
      spec,
      names,
      { cwd: spec.cwd ?? shownDirectory(), startedAt: this.#clock.now() },
      this.#limits,
    );
    const actor = new ProcessActor(
      { ...description, sandbox: spec.sandbox ? SANDBOX_NAME : "none" },
      this.#actorContext,
      spec.timeoutMs,
    );
    this.#events.starting(actor.info, spec, actor.started);
    // Before `changes$` reports the start: a subscriber may close the supervisor, which ends the unreleased processes.
    this.#unreleased.add(actor);
    void actor.released.then(() => this.#unreleased.delete(actor));
    return actor;
  }

  async #spawn(
    actor: ProcessActor,
    spec: ProcessSpec,
    ownCwd: string | undefined,
    controller: NetworkController,
  ): Promise<void> {
    try {
      const spawner = await this.#spawner;
      const launch = await prepareLaunch(spec, ownCwd, this.#limits);
      const owner = { processId: actor.info.processId, controller };
      const child = await this.#specSpawner.spawn(spawner, launch, spec, owner);
      actor.post({ type: "spawned", child });
      if (actor.state === "removed") this.#metrics.discarded();
    } catch (error) {
      const known =
        error instanceof ExecwireError ? error : new ExecwireError("INTERNAL", String(error), { cause: error });
      actor.post({ type: "spawnFailed", error: known });
    }
  }

  #onSpawned({ pid, isPidReserved }: Child): void {
    this.#leftBehind.onPidReused(pid);
    this.#guard?.add(pid, { isReserved: isPidReserved });
  }

  #onReleased(pid: number, leftover: Leftover | undefined): void {
    if (leftover) this.#leftBehind.add(leftover);
    if (leftover?.proof) this.#guard?.recordLeftover(pid, leftover.proof);
    else this.#guard?.forget(pid);
  }

  #processOf(actor: ProcessActor, delivery: DeliveryMode): Process {
    return localProcess(actor, delivery, { clock: this.#clock, limits: this.#limits, onError: this.#onError });
  }

  async #close(graceMs: number): Promise<void> {
    this.#table.refuseStarts(
      new ExecwireError("CLOSED", "the supervisor is closed; create another one to start processes"),
    );
    const captures = this.#specSpawner.stop();
    const actors = [...this.#unreleased];
    for (const actor of actors) {
      const reply = { resolve: () => undefined, reject: (error: unknown) => actor.report(error) };
      actor.post({ type: "terminate", reason: "terminate", graceMs, scope: "tree", leftovers: true, reply });
      actor.post({ type: "closing" });
    }
    // A process that cannot be killed, stuck in the kernel, is given up.
    const giveUp = this.#clock.after(graceMs + this.#limits.closeDeadlineMs, () => {
      for (const actor of actors) actor.post({ type: "release" });
      this.#specSpawner.giveUp();
    });
    const ended = this.#leftBehind.end(graceMs).catch(this.#onError);
    await Promise.all([captures, ...actors.map((actor) => actor.released)]);
    await ended;
    // Processes that were added or found meanwhile have had their grace period already.
    await this.#leftBehind.end(0).catch(this.#onError);
    giveUp();
    process.removeListener("exit", this.#onExit);
    process.setMaxListeners(process.getMaxListeners() - LISTENERS);
    await this.#spawner.then(
      (spawner) => spawner.close(),
      () => undefined,
    );
    this.#specSpawner.close();
    this.#guard?.close();
    this.#table.end();
  }

  /** The program exits while processes are running: there is no time for a grace period. */
  #killAll(): void {
    const reply = { resolve: () => undefined, reject: () => undefined };
    for (const actor of this.#unreleased) {
      actor.post({ type: "terminate", reason: "terminate", graceMs: 0, scope: "tree", leftovers: true, reply });
    }
    try {
      this.#leftBehind.kill("SIGKILL");
    } catch {
      // We may not kill it, and it is too late to report that.
    }
    this.#madeSpawner?.finishKills();
  }
}
