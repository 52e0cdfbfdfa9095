// A process: a log to read and a port for commands. Local and remote processes are this same class; they differ only in the
// writer of the log and the target of the port.
import type { Observable } from "rxjs";
import { filter } from "rxjs";
import {
  type ClosedEvent,
  checkInteger,
  checkOneOf,
  checkReadOptions,
  checkSignal,
  checkSize,
  checkTermination,
  checkWrite,
  type Delivery,
  type DeliveryMode,
  type ExitedEvent,
  type GapNotice,
  type Limits,
  type OutputEvent,
  optional,
  type ProcessInfo,
  type Seq,
  type SignalName,
  type TerminalSize,
} from "../../protocol/index.ts";
import { refuse } from "../errors.ts";
import { awaitEvent } from "../log/await-event.ts";
import type { ReportError } from "../log/guarded-observable.ts";
import { DeliveryIterator } from "../log/iterate.ts";
import type { LogView } from "../log/log-view.ts";
import { observe } from "../log/observe.ts";
import { endTree } from "./end-tree.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "./port.ts";

/** Where reading starts. */
export interface EventsOptions {
  /** Deliver the events after this seq. Default 0: everything retained. */
  readonly afterSeq?: Seq;
}

/** Options of iteration. */
export interface IterateOptions extends EventsOptions {
  /**
   * When the consumer falls behind: `gap` reports the lost range; `lossless` makes the child wait. Default: `lossless` for the
   * caller of `start`, `gap` for the caller of `attach`.
   */
  readonly delivery?: DeliveryMode;
}

/** Argument checks that depend on the host of the process. */
export interface HostBounds {
  readonly limits: Pick<Limits, "readWaitMs" | "writeIdChars">;
  readonly isSignal: (name: string) => boolean;
}

/** The parts of a process. */
export interface ProcessParts {
  /** Returns the current info. */
  readonly info: () => ProcessInfo;
  readonly log: LogView;
  readonly port: ProcessPort;
  /** Absent for a remote process: its host makes these checks. */
  readonly bounds?: HostBounds;
  /** Default of `iterate`. */
  readonly delivery: DeliveryMode;
  /** Called with errors that a subscriber throws. Default: the console. */
  readonly onSubscriberError?: ReportError;
}

/** A supervised process. Checks the arguments of every call, for all backends; a refused call does not reach the port. */
export class Process {
  readonly id: string;
  /** A uuid: a later process with the same id has another incarnation. */
  readonly incarnation: string;
  readonly #parts: ProcessParts;
  // Created on first use: a server forwards the logs of many processes and never uses these.
  #output$: Observable<OutputEvent | GapNotice> | undefined;
  #exit$: Observable<ExitedEvent> | undefined;
  #closed$: Observable<ClosedEvent> | undefined;

  constructor(parts: ProcessParts) {
    const { processId, incarnation } = parts.info();
    this.id = processId;
    this.incarnation = incarnation;
    this.#parts = parts;
  }

  /** All output, with a gap for each lost range. Replays what is retained; completes after `closed`. */
  get output$(): Observable<OutputEvent | GapNotice> {
    this.#output$ ??= this.events().pipe(filter((event) => event.type === "output" || event.type === "gap"));
    return this.#output$;
  }

  /** Emits the exit as soon as it is known, then completes. Output may still follow the exit. */
  get exit$(): Observable<ExitedEvent> {
    const { log, onSubscriberError } = this.#parts;
    this.#exit$ ??= awaitEvent(log, (view) => view.exited, onSubscriberError);
    return this.#exit$;
  }

  /** Emits `closed` as soon as it is known, then completes. */
  get closed$(): Observable<ClosedEvent> {
    const { log, onSubscriberError } = this.#parts;
    this.#closed$ ??= awaitEvent(log, closedEvent, onSubscriberError);
    return this.#closed$;
  }

  /** The log itself, for servers that forward it. */
  get log(): LogView {
    return this.#parts.log;
  }

  /** The current info. */
  get info(): ProcessInfo {
    return this.#parts.info();
  }

  /**
   * Replays the events retained after `afterSeq`, then follows live; completes after `closed`. A lost range is delivered as
   * a gap. Fails with START_CANCELLED, SPAWN_FAILED or CONNECTION_LOST when the end will never be known.
   */
  events(options: EventsOptions = {}): Observable<Delivery> {
    checkPosition(options);
    return observe(this.#parts.log, options.afterSeq, this.#parts.onSubscriberError);
  }

  /** The events as an async iterator. With `lossless` delivery, a slow consumer makes the child wait. */
  iterate(options: IterateOptions = {}): DeliveryIterator {
    checkPosition(options);
    refuse(optional(options.delivery, (mode) => checkOneOf("delivery", mode, ["gap", "lossless"])));
    return new DeliveryIterator(this.#parts.log, options.afterSeq, options.delivery ?? this.#parts.delivery);
  }

  [Symbol.asyncIterator](): DeliveryIterator {
    return this.iterate();
  }

  async read({ signal, ...options }: ReadCallOptions = {}) {
    refuse(checkReadOptions(options, this.#parts.bounds?.limits.readWaitMs));
    return this.#parts.port.read(signal ? { ...options, signal } : options);
  }

  async write(chunk: Uint8Array | string, options: WriteOptions = {}) {
    const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
    refuse(checkWrite({ chunk: bytes, writeId: options.writeId }, this.#parts.bounds?.limits.writeIdChars));
    // A copy: the caller may reuse its buffer while these bytes are still queued.
    return this.#parts.port.write(bytes === chunk ? Uint8Array.from(bytes) : bytes, options);
  }

  closeStdin() {
    return this.#parts.port.closeStdin();
  }

  async signal(signal: SignalName, options: SignalOptions = {}) {
    refuse(checkSignal({ signal, scope: options.scope }));
    if (this.#parts.bounds?.isSignal(signal) === false)
      refuse({ field: "signal", message: `must be a signal of this system, got ${signal}` });
    return this.#parts.port.signal(signal, options);
  }

  async resize(size: TerminalSize) {
    refuse(checkSize(size));
    return this.#parts.port.resize(size);
  }

  async terminate(options: TerminateOptions = {}) {
    refuse(checkTermination({ graceMs: options.graceMs, scope: options.scope }));
    return this.#parts.port.terminate(options);
  }

  holders() {
    return this.#parts.port.holders();
  }

  activity() {
    return this.#parts.port.activity();
  }

  /** Terminates the process with its whole tree and resolves when it has closed. */
  [Symbol.asyncDispose](): Promise<void> {
    return endTree(this);
  }
}

function closedEvent(log: LogView): ClosedEvent | undefined {
  return log.closed ? (log.next(log.headSeq - 1) as ClosedEvent) : undefined;
}

function checkPosition({ afterSeq }: EventsOptions): void {
  refuse(optional(afterSeq, (seq) => checkInteger("afterSeq", seq, 0, Number.MAX_SAFE_INTEGER)));
}
