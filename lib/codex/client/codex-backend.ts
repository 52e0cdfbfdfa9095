// A Codex exec-server as a backend. The dialect has no list, no attach and no labels: the processes of this backend are those
// that this client has started.
import {
  checkGrace,
  checkStart,
  checkText,
  type DeliveryMode,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
} from "../../../protocol/index.ts";
import { newUuid } from "../../client/uuid.ts";
import { type Clock, guardedClock, systemClock } from "../../clock.ts";
import { ExecwireError, refuse } from "../../errors.ts";
import { ProcessTable, type StartNames } from "../../host/process-table.ts";
import { type GuardedObservable, type ReportError, reportToConsole } from "../../log/guarded-observable.ts";
import type { Backend, CloseOptions, StartOptions } from "../../process/backend.ts";
import { Process } from "../../process/process.ts";
import { checkDescribable, describeStart } from "../../process/process-info.ts";
import { signalNumber } from "../../process/signal-number.ts";
import type { TextTransport } from "../../transport/websocket-client.ts";
import { CodexError } from "../codex-error.ts";
import { type Envelope, NO_ID } from "../envelope.ts";
import { answerOf, processEvent, startResult } from "./answers.ts";
import { Brake } from "./brake.ts";
import { CodexCalls } from "./calls.ts";
import { CodexLink } from "./codex-link.ts";
import { CodexPort, unknownProcess } from "./codex-port.ts";
import { KnownProcess } from "./known-process.ts";
import { errorOf, fromStartError } from "./refusals.ts";
import { requestStart } from "./start-call.ts";
import { toStartRequest } from "./start-params.ts";

/** How to be a client. */
export interface CodexBackendOptions {
  readonly open: () => Promise<TextTransport>;
  readonly limits: Limits;
  readonly onError?: ReportError;
  readonly clock?: Clock;
}

/** The processes that one client has at a Codex exec-server. */
export class CodexBackend implements Backend {
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly link: CodexLink;
  readonly #limits: Limits;
  readonly #onError: ReportError;
  readonly #clock: Clock;
  readonly #calls: CodexCalls;
  readonly #brake: Brake;
  readonly #processes: ProcessTable<KnownProcess>;
  readonly #ports = new WeakMap<KnownProcess, CodexPort>();
  #closing: Promise<void> | undefined;
  /** Why nothing is known any more. */
  #failure: ExecwireError | undefined;

  constructor(options: CodexBackendOptions) {
    this.#limits = options.limits;
    this.#onError = options.onError ?? reportToConsole;
    this.#clock = guardedClock(options.clock ?? systemClock, this.#onError);
    const clock = this.#clock;
    this.#brake = new Brake({
      leaseMs: options.limits.pauseLeaseMs,
      clock,
      setPaused: (paused) => this.link.setPaused(paused),
    });
    this.#calls = new CodexCalls({
      send: (method, params, id) => this.link.send(method, params, id),
      isOpen: () => this.link.isOpen,
      clock,
      onStuck: () => this.link.reopen(),
      onBusy: (busy) => {
        this.#brake.isBusy = busy;
      },
    });
    this.#processes = new ProcessTable({
      // How many processes may run is for the server to say.
      limits: { ...options.limits, liveProcesses: Number.POSITIVE_INFINITY },
      clock,
      onError: this.#onError,
      remove: (process) => process.remove(),
    });
    this.changes$ = this.#processes.changes$;
    this.link = new CodexLink({
      open: options.open,
      clock,
      limits: options.limits,
      onMessage: (message) => this.#receive(message),
      onConnected: () => this.#onConnected(),
      onClosed: (reason) => this.#onClosed(reason),
    });
  }

  /** Resolves when connected, with what there is to know of the server's machine. */
  async ready(): Promise<void> {
    await this.link.ready;
    if (this.link.environment) return;
    const info = this.#calls.call("environment/info", {}, { afterLoss: "repeat" });
    this.link.environmentInfo = await info.catch(() => undefined);
  }

  async start(spec: ProcessSpec, { incarnation = newUuid() }: StartOptions = {}): Promise<Process> {
    refuse(checkStart(spec, incarnation, this.#limits));
    checkDescribable(spec, this.#limits);
    const process = this.#processes.start(spec, incarnation, {
      create: (names) => this.#create(spec, names),
      begin: (created) => this.#begin(created),
    });
    await process.started;
    return this.#processOf(process, "lossless");
  }

  async attach(processId: string): Promise<Process> {
    refuse(checkText("processId", processId));
    if (this.#failure) throw this.#failure;
    const process = this.#processes.find(processId);
    if (!process) throw unknownProcess(processId);
    return this.#processOf(process, "gap");
  }

  async list(): Promise<readonly ProcessInfo[]> {
    if (this.#failure) throw this.#failure;
    return [...this.#processes].map(({ info }) => info);
  }

  /** Kills every process with its group, waits for their ends and leaves. A grace has no meaning in this dialect. */
  async close(options: CloseOptions = {}): Promise<void> {
    refuse(checkGrace({ graceMs: options.graceMs }));
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create(spec: ProcessSpec, names: StartNames): KnownProcess {
    const { params, cwd } = toStartRequest(spec, names.processId, this.link.environment);
    return new KnownProcess({
      identity: describeStart(spec, names, { cwd, startedAt: this.#clock.now() }, this.#limits),
      params,
      calls: this.#calls,
      clock: this.#clock,
      retainedBytes: this.#limits.retainedBytes,
      retainedEvents: this.#limits.retainedEvents,
      windowBytes: this.#limits.windowBytes,
      isPaused: () => this.link.isPaused,
      onChange: (changed) => this.#processes.changed(changed, changed.info),
      onPressure: ({ log }, full) => this.#brake.press(log.holds, full),
      onTerminate: ({ log }) => this.#brake.release(log.holds),
    });
  }

  #begin(process: KnownProcess): void {
    const { params } = process;
    requestStart(this.#calls, this.#clock, params, {
      onResult: (result) => void this.#onStarted(process, answerOf(startResult, result).sandboxType ?? "none"),
      onError: (error) =>
        this.#onRefused(
          process,
          error instanceof CodexError ? fromStartError(error, process.info.argv[0] as string) : error,
        ),
    });
  }

  async #onStarted(process: KnownProcess, sandboxType: string): Promise<void> {
    if (!process.isCancelled) return process.begin(sandboxType);
    // A server that handles several requests at once may have seen the cancellation before there was anything to end.
    await process.kill().catch(() => undefined);
    this.#onRefused(process, cancelled(process.id));
  }

  #onRefused(process: KnownProcess, error: ExecwireError): void {
    process.fail(process.isCancelled && error.code !== "CONNECTION_LOST" ? cancelled(process.id) : error);
    process.remove();
  }

  #processOf(process: KnownProcess, delivery: DeliveryMode): Process {
    let port = this.#ports.get(process);
    if (!port) {
      port = new CodexPort(process, this.#calls, this.#clock, this.#limits.writeIds);
      this.#ports.set(process, port);
    }
    const info = () => process.info;
    const bounds = { limits: this.#limits, isSignal: (name: string) => signalNumber(name) !== undefined };
    return new Process({ info, log: process.log, port, bounds, delivery, onSubscriberError: this.#onError });
  }

  #receive(message: Envelope): void {
    if (message.kind === "notification") {
      const told = processEvent(message.method, message.params);
      if (told) this.#processes.find(told.processId)?.follower.push(told.event);
    } else if (message.kind === "error" && message.id === NO_ID) {
      const text = `the server could not read a message: ${errorOf(message.error).message}`;
      this.link.fail(new ExecwireError("PROTOCOL_VIOLATION", text));
    } else if (message.kind !== "request") {
      this.#calls.settle(Number(message.id), message);
    }
  }

  #onConnected(): void {
    this.#brake.update();
    // What was missed goes first: a write that is sent again may block what follows it.
    this.#calls.resume(() => {
      for (const process of this.#processes) process.follower.resume();
    });
  }

  #onClosed(reason: ExecwireError): void {
    this.#failure = reason;
    this.#brake.off();
    this.#calls.fail(reason);
    for (const process of [...this.#processes]) if (!process.isOver) process.fail(reason);
    this.#processes.end(reason.code === "CLOSED" ? undefined : reason);
  }

  async #close(): Promise<void> {
    this.#processes.refuseStarts(new ExecwireError("CLOSED", "the client is closed"));
    // Without a connection nobody can be told; the server ends the session when its time is over.
    if (this.link.state === "connected") {
      this.#brake.off();
      // What has exited cannot be ended any further in this dialect, whoever holds its output open.
      const live = [...this.#processes].filter(({ state }) => state === "starting" || state === "running");
      await Promise.race([this.#end(live), this.#deadline()]);
    }
    this.link.close();
  }

  async #end(processes: readonly KnownProcess[]): Promise<void> {
    await Promise.all(
      processes.map(async (process) => {
        await process.terminate().catch(() => undefined);
        await process.over;
      }),
    );
  }

  #deadline(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(this.#limits.closeDeadlineMs, resolve, { background: true }));
  }
}

function cancelled(processId: string): ExecwireError {
  return new ExecwireError("START_CANCELLED", `process ${processId} was terminated before it was up`);
}
