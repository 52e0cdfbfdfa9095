// A Codex exec-server as a backend. Its protocol has no list, no attach and no labels, so this backend has only the processes
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
import { abortableStart } from "../../process/end-tree.ts";
import { Process } from "../../process/process.ts";
import { checkDescribable, describeStart } from "../../process/process-info.ts";
import { unknownProcess } from "../../process/refusals.ts";
import { signalNumber } from "../../process/signal-number.ts";
import type { TextTransport } from "../../transport/websocket/websocket-client.ts";
import { CodexError } from "../codex-error.ts";
import { type Envelope, NO_ID } from "../envelope.ts";
import { answerOf, processEvent, startResult } from "./answers.ts";
import { CodexCalls } from "./calls.ts";
import { CodexLink } from "./codex-link.ts";
import { CodexPort } from "./codex-port.ts";
import { CodexProcess } from "./codex-process.ts";
import { ReadFlowControl } from "./read-flow-control.ts";
import { errorOf, fromStartError } from "./refusals.ts";
import { requestStart } from "./start-call.ts";
import { toStartRequest } from "./start-params.ts";

/** How to connect, and the limits. */
export interface CodexBackendOptions {
  readonly open: () => Promise<TextTransport>;
  readonly limits: Limits;
  readonly onError?: ReportError;
  readonly clock?: Clock;
}

/** The processes of one client at a Codex exec-server. */
export class CodexBackend implements Backend {
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly link: CodexLink;
  readonly #limits: Limits;
  readonly #onError: ReportError;
  readonly #clock: Clock;
  readonly #calls: CodexCalls;
  readonly #flow: ReadFlowControl;
  readonly #processes: ProcessTable<CodexProcess>;
  readonly #ports = new WeakMap<CodexProcess, CodexPort>();
  #closing: Promise<void> | undefined;
  /** Why the connection was given up. */
  #failure: ExecwireError | undefined;

  constructor(options: CodexBackendOptions) {
    this.#limits = options.limits;
    this.#onError = options.onError ?? reportToConsole;
    this.#clock = guardedClock(options.clock ?? systemClock, this.#onError);
    const clock = this.#clock;
    this.#flow = new ReadFlowControl({
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
        this.#flow.isBusy = busy;
      },
    });
    this.#processes = new ProcessTable({
      // The server limits how many processes may run.
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
    this.link.state$.subscribe((state) => {
      if (state === "recovering") for (const process of this.#processes) process.follower.suspend();
    });
  }

  /** Resolves when connected and, if the server reports it, its environment is known. */
  async ready(): Promise<void> {
    await this.link.ready;
    if (this.link.environment) return;
    const info = this.#calls.call("environment/info", {}, { afterLoss: "repeat" });
    this.link.environmentInfo = await info.catch(() => undefined);
  }

  start(spec: ProcessSpec, { incarnation = newUuid(), signal }: StartOptions = {}): Promise<Process> {
    return abortableStart(() => this.#start(spec, incarnation), signal);
  }

  async #start(spec: ProcessSpec, incarnation: string): Promise<Process> {
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
    if (!process) throw unknownProcess(processId, ", or belong to another client");
    return this.#processOf(process, "gap");
  }

  async list(): Promise<readonly ProcessInfo[]> {
    if (this.#failure) throw this.#failure;
    return [...this.#processes].map(({ info }) => info);
  }

  /** Kills every process with its group, waits for the ends and disconnects. The protocol has no grace: `graceMs` is ignored. */
  async close(options: CloseOptions = {}): Promise<void> {
    refuse(checkGrace({ graceMs: options.graceMs }));
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create(spec: ProcessSpec, names: StartNames): CodexProcess {
    const { params, cwd } = toStartRequest(spec, names.processId, this.link.environment);
    return new CodexProcess({
      identity: describeStart(spec, names, { cwd, startedAt: this.#clock.now() }, this.#limits),
      params,
      calls: this.#calls,
      clock: this.#clock,
      retainedBytes: this.#limits.retainedBytes,
      retainedEvents: this.#limits.retainedEvents,
      windowBytes: this.#limits.windowBytes,
      isPaused: () => this.link.isPaused,
      onChange: (changed) => this.#processes.changed(changed, changed.info),
      onPressure: ({ log }, full) => this.#flow.setPressure(log.holds, full),
      onTerminate: ({ log }) => this.#flow.ignore(log.holds),
    });
  }

  #begin(process: CodexProcess): void {
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

  async #onStarted(process: CodexProcess, sandboxType: string): Promise<void> {
    if (!process.isCancelled) return process.begin(sandboxType);
    // A server that handles requests concurrently may have handled the cancellation before the process existed.
    await process.kill().catch(() => undefined);
    this.#onRefused(process, cancelled(process.id));
  }

  #onRefused(process: CodexProcess, error: ExecwireError): void {
    process.fail(process.isCancelled && error.code !== "CONNECTION_LOST" ? cancelled(process.id) : error);
    process.remove();
  }

  #processOf(process: CodexProcess, delivery: DeliveryMode): Process {
    let port = this.#ports.get(process);
    if (!port) {
      port = new CodexPort(process, this.#calls, this.#clock, this.#limits);
      this.#ports.set(process, port);
    }
    const info = () => process.info;
    const bounds = { limits: this.#limits, isSignal: (name: string) => signalNumber(name) !== undefined };
    const unread = { clock: this.#clock, limits: this.#limits };
    return new Process({ info, log: process.log, port, bounds, delivery, unread, onSubscriberError: this.#onError });
  }

  #receive(message: Envelope): void {
    if (message.kind === "notification") {
      const notice = processEvent(message.method, message.params);
      if (notice) this.#processes.find(notice.processId)?.follower.push(notice.event);
    } else if (message.kind === "error" && message.id === NO_ID) {
      const text = `the server could not read a message: ${errorOf(message.error).message}`;
      this.link.fail(new ExecwireError("PROTOCOL_VIOLATION", text));
    } else if (message.kind !== "request") {
      this.#calls.settle(Number(message.id), message);
    }
  }

  #onConnected(): void {
    this.#flow.update();
    // Reads of missed events go first: a repeated write may block the requests behind it.
    this.#calls.resume(() => {
      for (const process of this.#processes) process.follower.resume();
    });
  }

  #onClosed(reason: ExecwireError): void {
    this.#failure = reason;
    this.#flow.disable();
    this.#calls.fail(reason);
    for (const process of [...this.#processes]) if (!process.isOver) process.fail(reason);
    this.#processes.end(reason.code === "CLOSED" ? undefined : reason);
  }

  async #close(): Promise<void> {
    this.#processes.refuseStarts(new ExecwireError("CLOSED", "the client is closed"));
    // Without a connection no kill can be sent; the server ends the processes when the session expires.
    if (this.link.state === "connected") {
      this.#flow.disable();
      // The protocol cannot end what an exited process left behind, even if that keeps the streams open.
      const live = [...this.#processes].filter(({ state }) => state === "starting" || state === "running");
      await Promise.race([this.#end(live), this.#deadline()]);
    }
    this.link.close();
  }

  async #end(processes: readonly CodexProcess[]): Promise<void> {
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
