// One connection of this dialect: the handshake, then requests in, replies and notifications out. State that must survive the
// connection lives in its session and in the logs.
//
//  opened --initialize--> greeted --initialized--> ready --closed--> over
//
// A frame that is not a message is answered with id -1; nothing a client sends costs it the connection.
import type { SandboxPolicy } from "../../../protocol/index.ts";
import type { Cancel } from "../../clock.ts";
import { PendingCalls } from "../../server/pending-calls.ts";
import { Outbox } from "../../server/sending/outbox.ts";
import { Pace } from "../../server/sending/pace.ts";
import { RoundRobin } from "../../server/sending/round-robin.ts";
import type { ServedConnection, ServerContext } from "../../server/server-context.ts";
import { Session } from "../../server/sessions/session.ts";
import { CLOSE, type Transport } from "../../transport/transport.ts";
import { CODE, CodexError } from "../codex-error.ts";
import { optional, string, struct } from "../decode.ts";
import { type Envelope, encodeCall, encodeError, NO_ID, parseEnvelope } from "../envelope.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import type { FramePool } from "./frame-pool.ts";
import { type AckedSource, Heartbeat } from "./heartbeat.ts";
import { type MethodGroup, ReplyThen } from "./method.ts";
import { methodsOf } from "./methods.ts";
import { CodexNetworkClient } from "./network/network-client.ts";
import type { ProcessScope } from "./process-methods.ts";
import { RequestRunner } from "./request-runner.ts";
import { type Attachment, ClientProcesses, type CodexSession, type StartedProcess } from "./session.ts";

/** A resumed client that reads nothing gets its events after this time. */
const GO_LIVE_AFTER_MS = 1000;
/** The largest reply is the largest readable file in base64. */
const MAX_REPLY_BYTES = 768 * 1024 * 1024;

const initializeParams = struct("InitializeParams", { clientName: string, resumeSessionId: optional(string) });

/** What the connections of a server share in this dialect. */
export interface CodexHost {
  readonly info: EnvironmentInfo;
  readonly frames: FramePool;
  readonly messageBytes: number;
  /** What applies to every request: see `CodexDialectOptions`. */
  readonly sandbox: SandboxPolicy | undefined;
}

/** Serves one transport. */
export class CodexConnection implements ServedConnection, ProcessScope, Attachment {
  readonly context: ServerContext;
  readonly #transport: Transport;
  readonly #host: CodexHost;
  readonly #outbox: Outbox;
  readonly #heartbeat: Heartbeat;
  readonly network: CodexNetworkClient;
  readonly #requests: RequestRunner;
  readonly #recycle = (frame: Uint8Array): void => this.#host.frames.release(frame);
  readonly #roundRobin = new RoundRobin();
  readonly #lifetime = new AbortController();
  readonly signal: AbortSignal = this.#lifetime.signal;
  readonly #pending = new PendingCalls();
  /** Callers of `drained` that wait for room, in order. */
  readonly #drainWaiters: (() => void)[] = [];
  #session: CodexSession | undefined;
  readonly #pace: Pace;
  #isReady = false;
  #isOver = false;
  #goLiveTimer: Cancel | undefined;

  constructor(context: ServerContext, transport: Transport, host: CodexHost) {
    this.context = context;
    this.#host = host;
    this.#transport = transport;
    const { clock, limits } = context;
    this.#pace = new Pace({ clock, ping: () => this.#heartbeat.ping(), onRoom: () => this.#pump() });
    this.#outbox = new Outbox(
      transport,
      { ...limits, outboxMaxBytes: MAX_REPLY_BYTES },
      {
        onRoom: () => this.#pump(),
        onOverflow: () => this.#drop(),
        onStalled: () => this.close(CLOSE.tryLater, "the client does not read what was sent"),
      },
      // Clients of this dialect hold a process back by not reading its output.
      { eventsCanStall: false },
    );
    this.#outbox.join(context.resources.memory.dialect);
    if (transport.ping) this.#outbox.keepPace(this.#pace);
    this.#heartbeat = new Heartbeat({
      clock,
      pingMs: limits.pingMs,
      ping: (pingId) => transport.ping?.(pingId),
      onBeat: () => {
        for (const { subscription } of this.#processes) subscription.renew();
      },
      onDead: () => this.#drop(),
    });
    this.network = new CodexNetworkClient(this.#outbox, (incarnation) =>
      this.#session?.state.networks.get(incarnation),
    );
    this.#requests = new RequestRunner(methodsOf(this, host), this, limits.requests);
    // If a token is required, the upgrade request has carried it; otherwise `initialize` is all that identifies a client.
    if (context.auth.kind === "token") this.#trust();
    else transport.limitFrames?.(Math.min(limits.helloBytes, host.messageBytes));
    transport.listen({
      frame: (frame) => this.#receive(frame),
      closed: () => {
        this.#finish();
        context.slots.free(this);
      },
      pong: (pingId) => {
        this.#heartbeat.onPong(pingId);
        this.#outbox.answered(pingId);
      },
    });
    // Every client of this dialect may act, so its frames are handled before those of viewers.
    transport.rank?.("first");
  }

  readonly allocate = (bytes: number): Buffer => this.#host.frames.acquire(bytes);
  readonly notify = (method: string, params: unknown): void => {
    if (!this.#isOver) this.#outbox.push(encodeCall(method, params));
  };
  readonly drained = (): Promise<void> => {
    if ((this.hasRoom && this.#drainWaiters.length === 0) || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  };
  readonly filesSettled = (): Promise<unknown> => this.#requests.filesSettled;

  get session(): CodexSession {
    if (!this.#session) throw new CodexError(CODE.refused, "client must call initialize before using exec methods");
    return this.#session;
  }

  whileConnected<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#pending.run(call);
  }

  get hasRoom(): boolean {
    return this.#outbox.hasRoom;
  }

  send(frame: Uint8Array): void {
    if (!this.#isOver) this.#outbox.send(frame);
  }

  push(source: AckedSource, frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#outbox.push(frame, this.#recycle);
    this.#heartbeat.onPushed(source, frame.length);
  }

  broken(): void {
    this.close(
      CLOSE.tryLater,
      "events can no longer be sent in order; reconnect and read what is left with process/read",
    );
  }

  supersede(): void {
    this.#drop();
  }

  get owesOutput(): boolean {
    return [...this.#processes].some(({ subscription }) => subscription.owesOutput);
  }

  /** Only viewers are closed to make room for others. */
  readonly isIdle = false;

  evict(): void {
    this.#drop();
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#finish();
    this.#transport.close(code, reason);
  }

  probe(): void {
    this.#heartbeat.probe();
  }

  checkReady(group: MethodGroup): void {
    if (this.#isReady) return;
    const missing = this.#session ? "send initialized" : "call initialize";
    throw new CodexError(CODE.refused, `client must ${missing} before using ${group} methods`);
  }

  #receive(frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#heartbeat.onFrame();
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(frame);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `failed to parse websocket JSON-RPC message from exec-server websocket: ${reason}`;
      return this.send(encodeError(NO_ID, new CodexError(CODE.refused, message)));
    }
    if (envelope.kind === "notification" && envelope.method === "initialized") this.#isReady = !!this.#session;
    if (envelope.kind === "result" || envelope.kind === "error") return this.network.answered(envelope);
    if (envelope.kind !== "request") return;
    const { id, method, params } = envelope;
    if (method === "initialize") this.#requests.answer(id, async () => this.#initialize(params));
    else this.#requests.request(id, method, params);
  }

  #trust(): void {
    this.#transport.limitFrames?.(this.#host.messageBytes);
    this.#transport.admit?.();
  }

  #takeSlot(): void {
    try {
      this.context.slots.take(this, "control");
    } catch (error) {
      this.close(CLOSE.tryLater, (error as Error).message);
      throw error;
    }
  }

  #initialize(params: unknown): ReplyThen {
    const { resumeSessionId } = initializeParams.decode(params);
    if (this.#session) throw new CodexError(CODE.refused, "initialize may only be sent once per connection");
    const { sessions, metrics } = this.context;
    this.#takeSlot();
    const session =
      resumeSessionId === undefined
        ? sessions.add<CodexSession>(new Session("control", new ClientProcesses(), 0))
        : this.#sessionToResume(resumeSessionId);
    if (resumeSessionId !== undefined) metrics.resumes += 1;
    this.#session = session;
    this.#trust();
    sessions.attach(session, this);
    const result = { sessionId: session.id, environmentInfo: this.#host.info };
    return new ReplyThen(result, () => this.#resumeSubscriptions(session));
  }

  /** The session to resume, which must be detached. */
  #sessionToResume(id: string): CodexSession {
    const session = this.context.sessions.find(id) as CodexSession | undefined;
    if (!(session?.state instanceof ClientProcesses)) throw new CodexError(CODE.refused, `unknown session id ${id}`);
    if (!session.connection) return session;
    // The other connection may be dead without a close: probe it, and the next attempt may find the session free.
    session.connection.probe();
    throw new CodexError(CODE.attached, `session ${id} is already attached to another connection`);
  }

  /** After a resume: the events of every process of the session continue on this connection. */
  #resumeSubscriptions(session: CodexSession): void {
    if (this.#isOver || session.state.started.size === 0) return;
    const subscriptions = [...session.state.started.values()].map(({ subscription }) => subscription);
    for (const subscription of subscriptions) subscription.attach(this, { resumed: true });
    const goLive = () => {
      for (const subscription of subscriptions) if (!this.#isOver) subscription.goLive();
    };
    this.#goLiveTimer = this.context.clock.after(GO_LIVE_AFTER_MS, goLive, { background: true });
  }

  get #processes(): Iterable<StartedProcess> {
    return this.#session?.state.started.values() ?? [];
  }

  #pump(): void {
    this.#wakeDrainWaiter();
    this.#roundRobin.serve(
      this.#processes,
      ({ subscription }) => subscription.pump(),
      () => this.hasRoom,
    );
  }

  /** One per turn: each waiter may make a large reply, after which there is no room. */
  #wakeDrainWaiter(): void {
    if (!this.hasRoom || this.#drainWaiters.length === 0) return;
    this.#drainWaiters.shift()?.();
    setImmediate(() => this.#wakeDrainWaiter());
  }

  #drop(): void {
    this.#finish();
    this.#transport.terminate();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.network.end();
    this.#heartbeat.end();
    this.#pace.end();
    this.#goLiveTimer?.();
    this.#outbox.end();
    const reason = new CodexError(CODE.failed, "the connection of this request was closed");
    this.#lifetime.abort(reason);
    this.#pending.end(reason);
    for (const wake of this.#drainWaiters.splice(0)) wake();
    if (this.#session) this.context.sessions.detach(this.#session, this);
    this.context.onOver(this);
  }
}
