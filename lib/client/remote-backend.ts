// The remote backend: the interface of the local supervisor, for the processes of a server.
import { Subject } from "rxjs";
import {
  checkGrace,
  checkOneOf,
  checkStart,
  checkText,
  type DeliveryMode,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  present,
  type ServerMessage,
} from "../../protocol/index.ts";
import { type Clock, guardedClock, systemClock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { type GuardedObservable, guarded, type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import type { Backend, CloseOptions, StartOptions } from "../process/backend.ts";
import { abortableStart } from "../process/end-tree.ts";
import { controllerFor, type NetworkController } from "../process/network-controller.ts";
import { Process } from "../process/process.ts";
import type { OpenTransport } from "../transport/transport.ts";
import type { ClientOptions, SessionRenewed } from "./client-options.ts";
import { closeTimeout } from "./close-timeout.ts";
import { Link } from "./link.ts";
import { NetworkAnswers } from "./network-answers.ts";
import { collectPages } from "./process-list.ts";
import { RemotePort } from "./remote-port.ts";
import { type Push, RemoteProcess } from "./remote-process.ts";
import { Requests } from "./requests.ts";
import { sessionLoss } from "./session-loss.ts";
import { newUuid } from "./uuid.ts";

/** A backend whose processes run on a server. */
export class RemoteBackend implements Backend {
  /** State changes of every process of the server, requested from it with the first subscription. */
  readonly changes$: GuardedObservable<ProcessInfo>;
  /** Hot. Completes when the client is closed. */
  readonly sessionRenewed$: GuardedObservable<SessionRenewed>;
  readonly link: Link;
  readonly #renewals = new Subject<SessionRenewed>();
  /** Set from the loss of a session to the connection with the next one. */
  #lost: readonly ProcessInfo[] | undefined;
  readonly #changes = new Subject<ProcessInfo>();
  readonly #requests: Requests;
  readonly #controller: NetworkController;
  readonly #networks: NetworkAnswers;
  readonly #limits: Limits;
  readonly #onError: ReportError;
  readonly #clock: Clock;
  readonly #remotes = new Map<string, RemoteProcess>();
  readonly #channels = new Map<number, RemoteProcess>();
  /** Connections made so far. */
  #connections = 0;
  #watching = false;
  #closing: Promise<void> | undefined;

  constructor(open: OpenTransport, options: ClientOptions & { readonly limits: Limits }) {
    this.#limits = options.limits;
    this.#onError = options.onError ?? reportToConsole;
    this.#clock = guardedClock(options.clock ?? systemClock, this.#onError);
    this.#requests = new Requests((message) => this.link.send(message));
    this.#controller = options;
    this.#networks = new NetworkAnswers((message) => this.link.send(message), this.#onError);
    this.changes$ = guarded(this.#onError, this.#changes, () => this.#watch());
    this.sessionRenewed$ = guarded(this.#onError, this.#renewals);
    const { onSessionLost = "fail" } = options;
    refuse(checkOneOf("onSessionLost", onSessionLost, ["fail", "renew"]));
    this.link = new Link({
      open,
      token: options.token,
      clock: this.#clock,
      limits: options.limits,
      pending: () => this.#requests.pending,
      mayRenew: () => onSessionLost === "renew" || this.#ownsNothing,
      onSessionLost: () => this.#onSessionLost(),
      // A client that only watches the list waits for nothing else that has ended with the server.
      outlivesServer: () =>
        onSessionLost === "renew" ||
        (this.#watching && this.#ownsNothing && ![...this.#remotes.values()].some(({ follower }) => follower.wanted)),
      onMessage: (message) => this.#receive(message),
      onConnected: () => this.#onConnected(),
      onClosed: (reason) => this.#onClosed(reason),
    });
  }

  start(spec: ProcessSpec, options: StartOptions = {}): Promise<Process> {
    const { incarnation = newUuid(), signal } = options;
    return abortableStart(() => this.#start(spec, incarnation, controllerFor(this.#controller, options)), signal);
  }

  #start(spec: ProcessSpec, incarnation: string, controller: NetworkController): Promise<Process> {
    const connection = this.#connections;
    return new Promise((resolve, reject) => {
      refuse(checkStart(spec, incarnation));
      const network = this.#networks.begin(spec, incarnation, controller);
      const params = { spec, incarnation, subscribe: "lossless", ...(network && { network }) } as const;
      this.#requests.request("process/start", params, {
        // Synchronous, because the first events may arrive in the same turn.
        onResult: ({ process, channel }) => {
          if (process.incarnation !== incarnation || process.processId !== (spec.processId ?? incarnation)) {
            return reject(this.#failWrongProcess("process/start", spec.processId ?? incarnation));
          }
          const remote = this.#remoteOf(process, "lossless");
          // The subscription was lost with the connection that requested it.
          if (channel !== undefined && connection === this.#connections) remote.follow(channel);
          else remote.follower.subscribe();
          resolve(this.#processOf(remote, "lossless"));
        },
        onError: (error) => {
          this.#networks.remove(incarnation);
          reject(error);
        },
      });
    });
  }

  async attach(processId: string): Promise<Process> {
    refuse(checkText("processId", processId));
    const { process } = await this.#requests.call("process/attach", { processId });
    if (process.processId !== processId) throw this.#failWrongProcess("process/attach", processId);
    const remote = this.#remoteOf(process, "gap");
    // Subscribe while it starts: a failed start is not reported to later subscribers.
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
    // Without a connection the request cannot be sent; the server ends the session after sessionTtlMs.
    if (this.link.state === "connected") {
      const reply = this.#requests.call("session/close", present({ graceMs }));
      await Promise.race([
        reply.catch(() => undefined),
        closeTimeout(this.link, this.#clock, { ...this.#limits, ...present({ graceMs }) }),
      ]);
    }
    this.link.close();
  }

  /** Closes because the server answered a request with a process that was not asked for. */
  #failWrongProcess(method: string, processId: string): ExecwireError {
    const message = `the server answered ${method} of process ${processId} with another process`;
    const violation = new ExecwireError("PROTOCOL_VIOLATION", message);
    this.link.fail(violation);
    return violation;
  }

  /** A process with its log, shared by all its handles: the server sends its events once. */
  #remoteOf(info: ProcessInfo, delivery: DeliveryMode): RemoteProcess {
    const known = this.#remotes.get(info.incarnation);
    // A failed log stays failed: a new handle gets a new one.
    if (known && !known.log.failure) {
      known.info = info;
      return known;
    }
    const { retainedBytes, retainedEvents } = this.#limits;
    const { windowBytes } = this.link;
    const onChannel = (channel: number) => this.#channels.set(channel, remote);
    const remote = new RemoteProcess(info, this.link, this.#requests, onChannel, {
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
      port: new RemotePort(this.#requests, remote.info, this.#limits),
      delivery,
      unread: { clock: this.#clock, limits: this.#limits },
      onSubscriberError: this.#onError,
    });
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#requests.call("changes/watch", {}).catch(() => undefined);
  }

  /** Subscribes to changes again; after a reconnect, the current states stand for the changes that were missed. */
  #resumeWatching(): void {
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
      case "exit":
      case "gap":
      case "failed":
        return this.#push(message);
      case "change":
        return this.#onChange(message.process);
      default:
        return this.#networks.receive(message);
    }
  }

  #push(message: Push): void {
    const remote = this.#channels.get(message.channel);
    // A message that was under way when the client stopped following this process.
    if (!remote) return;
    if (!remote.receive(message)) {
      const text = `the server sent events of process ${remote.info.processId} that contradict earlier ones`;
      return this.link.fail(new ExecwireError("PROTOCOL_VIOLATION", text));
    }
    if (!remote.log.closed && !remote.log.failure) return;
    // Handles of the process keep its log; no more messages are routed to it.
    this.#networks.remove(remote.info.incarnation);
    this.#channels.delete(message.channel);
    this.#remotes.delete(remote.info.incarnation);
  }

  #onChange(process: ProcessInfo): void {
    const remote = this.#remotes.get(process.incarnation);
    if (remote) remote.info = process;
    // A log with an unfinished reader stays: `#onClosed` must fail it, or the reader would wait forever.
    if (process.state === "removed" && !remote?.follower.wanted) this.#remotes.delete(process.incarnation);
    this.#changes.next(process);
  }

  get #ownsNothing(): boolean {
    return this.#requests.areReadOnly && ![...this.#remotes.values()].some((remote) => remote.isLossless);
  }

  #onSessionLost(): void {
    const error = sessionLoss();
    this.#requests.loseSession(error);
    this.#channels.clear();
    const owned = [...this.#remotes.values()].filter((remote) => remote.isLossless && !remote.log.closed);
    this.#lost = owned.map((remote) => remote.info);
    for (const remote of owned) {
      this.#remotes.delete(remote.info.incarnation);
      remote.log.fail(error);
    }
    // A process of another client may still exist, if it was only the session that ended.
    for (const remote of this.#remotes.values()) remote.loseSession(error);
  }

  #onConnected(): void {
    this.#connections += 1;
    this.#networks.disconnected();
    // Channel numbers stay the same on every connection to a server; subscriptions end with theirs.
    this.#requests.sendAgain();
    if (this.#watching) this.#resumeWatching();
    for (const remote of this.#remotes.values()) remote.resume();
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost) this.#renewals.next({ type: "sessionRenewed", lost });
  }

  #onClosed(reason: ExecwireError): void {
    this.#requests.fail(reason);
    for (const remote of this.#remotes.values()) remote.log.fail(reason);
    if (reason.code === "CLOSED") this.#changes.complete();
    else this.#changes.error(reason);
    this.#renewals.complete();
  }
}
