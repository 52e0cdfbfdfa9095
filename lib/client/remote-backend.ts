// The remote backend: the same interface as the local supervisor, at the other end of a link.
import { Subject } from "rxjs";
import {
  checkGrace,
  checkStart,
  checkText,
  type DeliveryMode,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  type ServerMessage,
} from "../../protocol/index.ts";
import { type Cancel, type Clock, guardedClock, systemClock } from "../clock.ts";
import { ExecwireError, fromWireError, refuse } from "../errors.ts";
import { GuardedObservable, type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import type { Backend, CloseOptions, StartOptions } from "../process/backend.ts";
import { Process } from "../process/process.ts";
import type { OpenTransport } from "../transport/transport.ts";
import { Link } from "./link.ts";
import { collectPages } from "./process-list.ts";
import { RemotePort } from "./remote-port.ts";
import { RemoteProcess } from "./remote-process.ts";
import { Requests } from "./requests.ts";
import { newUuid } from "./uuid.ts";

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
  readonly #clock: Clock;
  readonly #remotes = new Map<string, RemoteProcess>();
  readonly #channels = new Map<number, RemoteProcess>();
  /** Counts connections made. */
  #connections = 0;
  #watching = false;
  #closing: Promise<void> | undefined;

  constructor(open: OpenTransport, options: ClientOptions & { readonly limits: Limits }) {
    this.#limits = options.limits;
    this.#onError = options.onError ?? reportToConsole;
    this.#clock = guardedClock(options.clock ?? systemClock, this.#onError);
    this.#requests = new Requests((message) => this.link.send(message));
    this.changes$ = new GuardedObservable(this.#onError, (subscriber) => {
      this.#watch();
      const subscription = this.#changes.subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
    this.link = new Link({
      open,
      token: options.token,
      clock: this.#clock,
      limits: options.limits,
      pending: () => this.#requests.pending,
      mayStartOver: () => this.#requests.onlyLook && ![...this.#remotes.values()].some((remote) => remote.isLossless),
      onMessage: (message) => this.#receive(message),
      onConnected: () => this.#onConnected(),
      onClosed: (reason) => this.#onClosed(reason),
    });
  }

  start(spec: ProcessSpec, { incarnation = newUuid() }: StartOptions = {}): Promise<Process> {
    const connection = this.#connections;
    return new Promise((resolve, reject) => {
      refuse(checkStart(spec, incarnation));
      const params = { spec, incarnation, subscribe: "lossless" } as const;
      this.#requests.request("process/start", params, {
        // In the turn of the reply: the first events may follow in the same one.
        onResult: ({ process, channel }) => {
          if (process.incarnation !== incarnation || process.processId !== (spec.processId ?? incarnation)) {
            return reject(this.#mistaken("process/start", spec.processId ?? incarnation));
          }
          const remote = this.#remoteOf(process, "lossless");
          // On another connection than the one that asked, the subscription is gone.
          if (channel !== undefined && connection === this.#connections) remote.follow(channel);
          else remote.follower.subscribe();
          resolve(this.#processOf(remote, "lossless"));
        },
        onError: reject,
      });
    });
  }

  async attach(processId: string): Promise<Process> {
    refuse(checkText("processId", processId));
    const { process } = await this.#requests.call("process/attach", { processId });
    if (process.processId !== processId) throw this.#mistaken("process/attach", processId);
    const remote = this.#remoteOf(process, "gap");
    // Whether the start succeeds is told only while it lasts.
    if (process.state === "starting" && !remote.follower.wanted) remote.follower.subscribe();
    return this.#processOf(remote, "gap");
  }

  list(): Promise<readonly ProcessInfo[]> {
    return collectPages((params) => this.#requests.call("process/list", params), this.#limits.listedProcesses);
  }

  async close(options: CloseOptions = {}): Promise<void> {
    refuse(checkGrace({ graceMs: options.graceMs }));
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close({ graceMs }: CloseOptions): Promise<void> {
    // Without a connection nobody can be told; the server ends the session when its time is over.
    if (this.link.state === "connected") {
      const told = this.#requests.call("session/close", graceMs === undefined ? {} : { graceMs });
      await Promise.race([told.catch(() => undefined), this.#lostFor(this.#limits.closeDeadlineMs)]);
    }
    this.link.close();
  }

  /** Resolves when there was no connection for so long. */
  #lostFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => undefined;
      this.link.state$.subscribe((state) => {
        cancel();
        if (state !== "connected") cancel = this.#clock.after(ms, resolve, { background: true });
      });
    });
  }

  /** The server answered with another process than the one that was asked for. */
  #mistaken(method: string, processId: string): ExecwireError {
    const message = `the server answered ${method} of process ${processId} with another process`;
    const violation = new ExecwireError("PROTOCOL_VIOLATION", message);
    this.link.fail(violation);
    return violation;
  }

  /** A process with its one log, however many handles there are: the server sends its events once. */
  #remoteOf(info: ProcessInfo, delivery: DeliveryMode): RemoteProcess {
    const known = this.#remotes.get(info.incarnation);
    // One that failed is of no use to anybody who comes later.
    if (known && !known.log.failure) {
      known.info = info;
      return known;
    }
    const { retainedBytes, retainedEvents } = this.#limits;
    const { windowBytes } = this.link;
    const remember = (channel: number) => this.#channels.set(channel, remote);
    const remote = new RemoteProcess(info, this.link, this.#requests, remember, {
      delivery,
      retainedBytes,
      retainedEvents,
      windowBytes,
      clock: this.#clock,
    });
    this.#remotes.set(info.incarnation, remote);
    return remote;
  }

  #processOf(remote: RemoteProcess, delivery: DeliveryMode): Process {
    return new Process({
      info: () => remote.info,
      log: remote.log,
      port: new RemotePort(this.#requests, remote.info),
      delivery,
      onSubscriberError: this.#onError,
    });
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#requests.call("changes/watch", {}).catch(() => undefined);
  }

  /** What changed while there was no connection is told by how things stand now. */
  #watchAgain(): void {
    this.#requests.call("changes/watch", {}).catch(() => undefined);
    if (this.#connections === 1) return;
    this.list().then(
      (processes) => {
        for (const process of processes) this.#onChange(process);
      },
      () => undefined,
    );
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case "reply": {
        const violation = this.#requests.settle(message);
        return violation && this.link.fail(violation);
      }
      case "event":
        return this.#push(message.channel, (remote) => remote.follower.accept(message.event));
      case "exit":
        return this.#push(message.channel, (remote) => remote.follower.announceExit(message.event));
      case "gap":
        return this.#push(message.channel, (remote) => remote.follower.accept({ ...message.gap, type: "gap" }));
      case "failed":
        return this.#push(message.channel, (remote) => {
          remote.log.fail(fromWireError(message.error));
          return true;
        });
      case "change":
        return this.#onChange(message.process);
    }
  }

  #push(channel: number, act: (remote: RemoteProcess) => boolean): void {
    const remote = this.#channels.get(channel);
    // A channel that nobody reads any more: what was on its way is of no interest.
    if (!remote) return;
    if (!act(remote)) {
      const message = `the server sent events of process ${remote.info.processId} that do not follow from those before`;
      return this.link.fail(new ExecwireError("PROTOCOL_VIOLATION", message));
    }
    if (!remote.log.closed && !remote.log.failure) return;
    // Whoever has the process keeps its log; here nothing is routed to it any more.
    this.#channels.delete(channel);
    this.#remotes.delete(remote.info.incarnation);
  }

  #onChange(process: ProcessInfo): void {
    const remote = this.#remotes.get(process.incarnation);
    if (remote) remote.info = process;
    // A reader before the end must still hear of a lost connection, or it would wait forever.
    if (process.state === "removed" && !remote?.follower.wanted) this.#remotes.delete(process.incarnation);
    this.#changes.next(process);
  }

  #onConnected(): void {
    this.#connections += 1;
    // Channel numbers are the server's, and the same on every connection to it; subscriptions are not.
    this.#requests.sendAgain();
    if (this.#watching) this.#watchAgain();
    for (const remote of this.#remotes.values()) remote.resume();
  }

  #onClosed(reason: ExecwireError): void {
    this.#requests.fail(reason);
    for (const remote of this.#remotes.values()) remote.log.fail(reason);
    if (reason.code === "CLOSED") this.#changes.complete();
    else this.#changes.error(reason);
  }
}
