// The process, as every user sees it: a log to read and a port for commands. Local and remote processes are this same class;
// they differ only in what writes the log and where the port leads.
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
  ifPresent,
  type Limits,
  type OutputEvent,
  type ProcessInfo,
  type Seq,
  type SignalName,
  type TerminalSize,
} from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { refuse } from "../errors.ts";
import { awaitEvent } from "../log/await-event.ts";
import type { ReportError } from "../log/guarded-observable.ts";
import { DeliveryIterator } from "../log/iterate.ts";
import type { LogView } from "../log/log-view.ts";
import { observe } from "../log/observe.ts";
import { endTree } from "./end-tree.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "./port.ts";
import { UnreadHold } from "./unread-hold.ts";

/** Where to begin reading. */
export interface EventsOptions {
  /** Deliver what follows this seq. Default 0: everything retained. */
  readonly afterSeq?: Seq;
}

/** Options of a pull-based reader. */
export interface IterateOptions extends EventsOptions {
  /** What to do when the consumer falls behind: `gap` reports the loss; `lossless` holds the child back. */
  readonly delivery?: DeliveryMode;
}

/** Arguments that the host of a process accepts, beyond the checks that hold for every host. */
export interface HostBounds {
  readonly limits: Pick<Limits, "readWaitMs" | "writeIdChars">;
  readonly isSignal: (name: string) => boolean;
}

/** What a process is made of. */
export interface ProcessParts {
  /** The current state; called on every access. */
  readonly info: () => ProcessInfo;
  readonly log: LogView;
  readonly port: ProcessPort;
  /** Absent for a process of another machine, whose host makes these checks. */
  readonly bounds?: HostBounds;
  /** Default for `iterate`: `lossless` for the client that started the process, `gap` for viewers. */
  readonly delivery: DeliveryMode;
  /** For a starter: how long the process waits for it to begin to read. */
  readonly unread?: { readonly clock: Clock; readonly limits: Pick<Limits, "unreadMs"> };
  /** Called with errors thrown by subscribers. Default: the console. */
  readonly onSubscriberError?: ReportError;
}

/** A supervised process. Arguments are checked here, for every backend alike: a refused call does not reach the port. */
export class Process {
  readonly id: string;
  /** Identifies one process among all that use this id; a uuid. */
  readonly incarnation: string;
  readonly #parts: ProcessParts;
  // Created on first use: a server keeps many processes of which it only forwards the log.
  #output$: Observable<OutputEvent | GapNotice> | undefined;
  #exit$: Observable<ExitedEvent> | undefined;
  #closed$: Observable<ClosedEvent> | undefined;
  #unread: UnreadHold | undefined;

  constructor(parts: ProcessParts) {
    const { processId, incarnation } = parts.info();
    this.id = processId;
    this.incarnation = incarnation;
    this.#parts = parts;
    const { delivery, log, unread } = parts;
    if (unread && delivery === "lossless")
      this.#unread = new UnreadHold(this, log, unread.clock, unread.limits.unreadMs);
  }

  /** All output, with a gap wherever output was lost. Replays what is retained; completes after `closed`. */
  get output$(): Observable<OutputEvent | GapNotice> {
    this.#output$ ??= this.events().pipe(filter((event) => event.type === "output" || event.type === "gap"));
    return this.#output$;
  }

  /** The exit, now or later; then completes. Output may still follow it. */
  get exit$(): Observable<ExitedEvent> {
    const { log, onSubscriberError } = this.#read();
    this.#exit$ ??= awaitEvent(log, (view) => view.exited, onSubscriberError);
    return this.#exit$;
  }

  /** The end of the log, now or later; then completes. */
  get closed$(): Observable<ClosedEvent> {
    const { log, onSubscriberError } = this.#read();
    this.#closed$ ??= awaitEvent(log, closedEvent, onSubscriberError);
    return this.#closed$;
  }

  /** The log itself, for hosts that forward it. */
  get log(): LogView {
    return this.#read().log;
  }

  /** The current state. */
  get info(): ProcessInfo {
    return this.#parts.info();
  }

  /**
   * Replays the retained events after `afterSeq`, then follows live; completes after `closed`. A lost range is delivered as a
   * gap. Fails with START_CANCELLED, with SPAWN_FAILED, or when the connection is lost for good and the end will never be
   * known.
   */
  events(options: EventsOptions = {}): Observable<Delivery> {
    checkPosition(options);
    const { log, onSubscriberError } = this.#read();
    return observe(log, options.afterSeq, onSubscriberError);
  }

  /**
   * The same, pull-based: the log waits for the consumer, and with `lossless` so does the child. For the client that started the
   * process it does so from the start on, however late this is called, unless the process was read or awaited in another way before.
   */
  iterate(options: IterateOptions = {}): DeliveryIterator {
    checkPosition(options);
    refuse(ifPresent(options.delivery, (mode) => checkOneOf("delivery", mode, ["gap", "lossless"])));
    const { log, delivery } = this.#read();
    return new DeliveryIterator(log, options.afterSeq, options.delivery ?? delivery);
  }

  [Symbol.asyncIterator](): DeliveryIterator {
    return this.iterate();
  }

  async read({ signal, ...options }: ReadCallOptions = {}) {
    refuse(checkReadOptions(options, this.#parts.bounds?.limits.readWaitMs));
    return this.#read().port.read(signal ? { ...options, signal } : options);
  }

  async write(chunk: Uint8Array | string, options: WriteOptions = {}) {
    const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
    refuse(checkWrite({ chunk: bytes, writeId: options.writeId }, this.#parts.bounds?.limits.writeIdChars));
    // A copy: the caller may reuse its buffer while the bytes are still queued.
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

  /** To be called by everything that reads the log or waits for its end. */
  #read(): ProcessParts {
    this.#unread?.release();
    this.#unread = undefined;
    return this.#parts;
  }

  /** Terminates the process with its whole tree and resolves when it is closed. */
  [Symbol.asyncDispose](): Promise<void> {
    return endTree(this);
  }
}

function closedEvent(log: LogView): ClosedEvent | undefined {
  return log.closed ? (log.next(log.headSeq - 1) as ClosedEvent) : undefined;
}

function checkPosition({ afterSeq }: EventsOptions): void {
  refuse(ifPresent(afterSeq, (seq) => checkInteger("afterSeq", seq, 0, Number.MAX_SAFE_INTEGER)));
}
