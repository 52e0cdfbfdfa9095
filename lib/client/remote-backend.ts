// The remote backend: the same interface as the local supervisor, at the other end of a link.
import { Subject } from "rxjs";
import type { DeliveryMode, Limits, ProcessInfo, ProcessSpec, ServerMessage } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import type { Backend, CloseOptions, StartOptions } from "../process/backend.ts";
import { Process } from "../process/process.ts";
import type { OpenTransport } from "../transport/transport.ts";
import { Link } from "./link.ts";
import { RemoteLog } from "./remote-log.ts";
import { RemotePort } from "./remote-port.ts";
import { Requests } from "./requests.ts";

/** How to be a client. */
export interface ClientOptions {
  readonly token?: string;
  readonly limits?: Partial<Limits>;
  /** Told what a subscriber throws. Default: the console. */
  readonly onError?: ReportError;
  readonly clock?: Clock;
}

/** A backend at the other end of a connection. */
export class RemoteBackend implements Backend {
  /** Changes of every process of the server. The first subscriber asks the server for them. */
  readonly changes$: GuardedObservable<ProcessInfo>;
  readonly link: Link;
  readonly #changes = new Subject<ProcessInfo>();
  readonly #requests: Requests;
  readonly #limits: Limits;
  readonly #onError: ReportError;
  readonly #logs = new Map<string, RemoteLog>();
  readonly #infos = new Map<string, ProcessInfo>();
  readonly #channels = new Map<number, RemoteLog>();
  #watching = false;
  #closing: Promise<void> | undefined;

  constructor(open: OpenTransport, options: ClientOptions & { readonly limits: Limits }) {
    this.#limits = options.limits;
    this.#onError = options.onError ?? reportToConsole;
    this.#requests = new Requests((message) => this.link.send(message));
    this.changes$ = new GuardedObservable(this.#onError, (subscriber) => {
      this.#watch();
      const subscription = this.#changes.subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
    this.link = new Link({
      open,
      token: options.token,
      clock: options.clock ?? systemClock,
      limits: options.limits,
      pending: () => this.#requests.pending,
      onMessage: (message) => this.#receive(message),
      onConnected: () => this.#onConnected(),
      onClosed: (reason) => this.#onClosed(reason),
    });
  }

  async start(spec: ProcessSpec, { incarnation = crypto.randomUUID() }: StartOptions = {}): Promise<Process> {
    const { process } = await this.#requests.call("process/start", { spec, incarnation });
    return this.#processOf(process, "lossless");
  }

  async attach(processId: string): Promise<Process> {
    const { process } = await this.#requests.call("process/attach", { processId });
    return this.#processOf(process, "gap");
  }

  async list(): Promise<readonly ProcessInfo[]> {
    return (await this.#requests.call("process/list", {})).processes;
  }

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close({ graceMs }: CloseOptions): Promise<void> {
    // Without a connection nobody can be told; the server ends the session when its time is over.
    if (this.link.state === "connected") {
      await this.#requests.call("session/close", graceMs === undefined ? {} : { graceMs }).catch(() => undefined);
    }
    this.link.close();
  }

  #processOf(info: ProcessInfo, delivery: DeliveryMode): Process {
    const { incarnation, processId } = info;
    this.#infos.set(incarnation, info);
    let log = this.#logs.get(incarnation);
    if (!log) {
      const address = { processId, incarnation };
      const { retainedBytes, windowBytes } = this.#limits;
      const remember = (channel: number) => this.#channels.set(channel, log as RemoteLog);
      log = new RemoteLog(address, this.link, this.#requests, remember, { delivery, retainedBytes, windowBytes });
      this.#logs.set(incarnation, log);
    }
    const { replica } = log;
    return new Process({
      info: () => this.#infoOf(info, replica.exited !== undefined, replica.closed),
      log: replica,
      port: new RemotePort(this.#requests, { processId, incarnation }),
      delivery,
      onSubscriberError: this.#onError,
    });
  }

  /** What the server said last, and what its log has told since. */
  #infoOf(first: ProcessInfo, exited: boolean, closed: boolean): ProcessInfo {
    const info = this.#infos.get(first.incarnation) ?? first;
    const exit = this.#logs.get(first.incarnation)?.replica.exited;
    if (!exited || !exit || info.state === "removed") return info;
    return { ...info, state: closed ? "closed" : "exited", exitCode: exit.exitCode, signal: exit.signal };
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#requests.call("changes/watch", {}).catch(() => undefined);
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case "reply":
        return this.#requests.settle(message);
      case "event":
        return this.#push(message.channel, (log) => log.accept(message.event));
      case "gap":
        return this.#push(message.channel, (log) => log.accept({ ...message.gap, type: "gap" }));
      case "failed":
        return this.#push(message.channel, (log) => {
          log.failed(message.error);
          return true;
        });
      case "change":
        return this.#onChange(message.process);
    }
  }

  #push(channel: number, act: (log: RemoteLog) => boolean): void {
    const log = this.#channels.get(channel);
    // A channel that nobody reads any more: what was on its way is of no interest.
    if (!log || act(log)) return;
    this.link.fail(
      new ExecwireError("PROTOCOL_VIOLATION", `the server left events out on channel ${channel} without saying so`),
    );
  }

  #onChange(process: ProcessInfo): void {
    if (this.#infos.has(process.incarnation)) this.#infos.set(process.incarnation, process);
    this.#changes.next(process);
    if (process.state === "removed") this.#infos.delete(process.incarnation);
  }

  #onConnected(): void {
    // Channel numbers are the server's, and the same on every connection to it; subscriptions are not.
    this.#requests.sendAgain();
    if (this.#watching) this.#requests.call("changes/watch", {}).catch(() => undefined);
    for (const log of this.#logs.values()) log.resume();
  }

  #onClosed(reason: ExecwireError): void {
    this.#requests.fail(reason);
    for (const log of this.#logs.values()) log.replica.fail(reason);
    this.#changes.complete();
  }
}
