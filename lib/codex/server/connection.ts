// One connection of this dialect: the handshake, then requests in, replies and notifications out. What must survive it lives
// in its session and in the logs.
//
//  opened --initialize--> greeted --initialized--> ready --closed--> over
//
// What is no message is answered with id -1; nothing a client says costs it the connection.
import type { Cancel } from "../../clock.ts";
import { Outbox } from "../../server/outbox.ts";
import type { ServedConnection, ServerParts } from "../../server/parts.ts";
import { PendingCalls } from "../../server/pending-calls.ts";
import { Turns } from "../../server/turns.ts";
import { CLOSE, type Transport } from "../../transport/transport.ts";
import { CODE, CodexError } from "../codex-error.ts";
import { optional, string, struct } from "../decode.ts";
import { type Envelope, encodeCall, encodeError, NO_ID, parseEnvelope } from "../envelope.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import type { FramePool } from "./frame-pool.ts";
import { Liveness } from "./liveness.ts";
import { Announcement, type Family } from "./method.ts";
import { methodsOf } from "./methods.ts";
import type { ProcessScope } from "./process-methods.ts";
import type { Sender } from "./receipts.ts";
import { Requests } from "./requests.ts";
import { type Attachment, CodexSession, type StartedProcess } from "./session.ts";

/** A client that is back and reads nothing gets its events after this time. */
const WAIT_MS = 1000;
/** Replies may be as large as the largest file that can be read, in base64. */
const MAX_REPLY_BYTES = 768 * 1024 * 1024;

const initializeParams = struct("InitializeParams", { clientName: string, resumeSessionId: optional(string) });

/** Serves one transport. */
export class CodexConnection implements ServedConnection, ProcessScope, Attachment {
  readonly parts: ServerParts;
  readonly #transport: Transport;
  readonly #info: EnvironmentInfo;
  readonly #messageBytes: number;
  readonly #outbox: Outbox;
  readonly #liveness: Liveness;
  readonly #requests: Requests;
  readonly #recycle: (frame: Uint8Array) => void;
  readonly #turns = new Turns();
  readonly #gone = new AbortController();
  readonly #pending = new PendingCalls();
  /** Who waits for room. */
  readonly #waiting: (() => void)[] = [];
  #session: CodexSession | undefined;
  #isReady = false;
  #isOver = false;
  #wait: Cancel | undefined;

  constructor(
    parts: ServerParts,
    transport: Transport,
    info: EnvironmentInfo,
    frames: FramePool,
    messageBytes: number,
  ) {
    this.parts = parts;
    this.#messageBytes = messageBytes;
    this.#transport = transport;
    this.#info = info;
    this.allocate = (bytes) => frames.take(bytes);
    this.#recycle = (frame) => frames.give(frame);
    const { clock, limits } = parts;
    this.#outbox = new Outbox(
      transport,
      { ...limits, outboxMaxBytes: MAX_REPLY_BYTES },
      {
        onRoom: () => this.#pump(),
        onOverflow: () => this.#drop(),
        onStalled: () => this.close(CLOSE.tryLater, "what was sent is not read"),
      },
      // Its clients hold processes back by not reading what those print.
      { eventsCanStall: false },
    );
    this.#outbox.join(parts.shared.memory.codex);
    this.#liveness = new Liveness({
      clock,
      pingMs: limits.pingMs,
      ping: (sign) => transport.ping?.(sign),
      onBeat: () => this.#renew(),
      onDead: () => this.#drop(),
    });
    this.#requests = new Requests(methodsOf(this, info), this, limits.requests);
    // Where there is a token it was shown with the upgrade; where there is none, `initialize` is all that tells a client.
    if (parts.auth.kind === "token") this.#trust();
    else transport.limitFrames?.(Math.min(limits.helloBytes, messageBytes));
    transport.listen({
      frame: (frame) => this.#receive(frame),
      closed: () => {
        this.#finish();
        parts.seats.free(this);
      },
      pong: (sign) => this.#liveness.ponged(sign),
    });
    // It has shown a token that lets it act.
    transport.rank?.("first");
  }

  readonly allocate: (bytes: number) => Buffer;
  readonly notify = (method: string, params: unknown): void => {
    if (!this.#isOver) this.#outbox.push(encodeCall(method, params));
  };
  readonly drained = (): Promise<void> => {
    if ((this.hasRoom && this.#waiting.length === 0) || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  };
  readonly filesSettled = (): Promise<unknown> => this.#requests.filesSettled;

  get session(): CodexSession {
    if (!this.#session) throw new CodexError(CODE.refused, "client must call initialize before using exec methods");
    return this.#session;
  }

  whileConnected<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#pending.run(call);
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get shell(): string {
    return this.#info.shell.path;
  }

  get hasRoom(): boolean {
    return this.#outbox.hasRoom;
  }

  send(frame: Uint8Array): void {
    if (!this.#isOver) this.#outbox.send(frame);
  }

  push(sender: Sender, frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#outbox.push(frame, this.#recycle);
    this.#liveness.sent(sender, frame.length);
  }

  broken(): void {
    this.close(CLOSE.tryLater, "this client cannot be told everything here; it finds by process/read what there is");
  }

  supersede(): void {
    this.#drop();
  }

  /** Only viewers make room. */
  readonly isIdle = false;

  displace(): void {
    this.#drop();
  }

  changed(): void {
    // This dialect has no list of processes to keep up to date.
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#finish();
    this.#transport.close(code, reason);
  }

  demandProof(): void {
    this.#liveness.demandProof();
  }

  checkReady(family: Family): void {
    if (this.#isReady) return;
    const missing = this.#session ? "send initialized" : "call initialize";
    throw new CodexError(CODE.refused, `client must ${missing} before using ${family} methods`);
  }

  #receive(frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#liveness.heard();
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(frame);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `failed to parse websocket JSON-RPC message from exec-server websocket: ${reason}`;
      return this.send(encodeError(NO_ID, new CodexError(CODE.refused, message)));
    }
    if (envelope.kind === "notification" && envelope.method === "initialized") this.#isReady = !!this.#session;
    if (envelope.kind !== "request") return;
    const { id, method, params } = envelope;
    if (method === "initialize") this.#requests.answer(id, async () => this.#initialize(params));
    else this.#requests.request(id, method, params);
  }

  #trust(): void {
    this.#transport.limitFrames?.(this.#messageBytes);
    this.#transport.admit?.();
  }

  #takeSeat(): void {
    try {
      this.parts.seats.take(this, "control");
    } catch (error) {
      this.close(CLOSE.tryLater, (error as Error).message);
      throw error;
    }
  }

  #initialize(params: unknown): Announcement {
    const { resumeSessionId } = initializeParams.decode(params);
    if (this.#session) throw new CodexError(CODE.refused, "initialize may only be sent once per connection");
    const { sessions, metrics } = this.parts;
    this.#takeSeat();
    const session = resumeSessionId === undefined ? sessions.add(new CodexSession()) : this.#find(resumeSessionId);
    if (resumeSessionId !== undefined) metrics.resumes += 1;
    this.#session = session;
    this.#trust();
    sessions.attach(session, this);
    const result = { sessionId: session.id, environmentInfo: this.#info };
    return new Announcement(result, () => this.#follow(session));
  }

  /** The session to resume. */
  #find(id: string): CodexSession {
    const session = this.parts.sessions.find(id);
    if (!(session instanceof CodexSession)) throw new CodexError(CODE.refused, `unknown session id ${id}`);
    if (!session.attachment) return session;
    // The other end may be gone without a word: it is asked, and the next attempt may find it gone.
    session.attachment.demandProof();
    throw new CodexError(CODE.attached, `session ${id} is already attached to another connection`);
  }

  /** After a resume: everything the session started goes on here. */
  #follow(session: CodexSession): void {
    if (this.#isOver || session.started.size === 0) return;
    const feeds = [...session.started.values()].map(({ feed }) => feed);
    for (const feed of feeds) feed.attach(this, { resumed: true });
    const goLive = () => {
      for (const feed of feeds) if (!this.#isOver) feed.goLive();
    };
    this.#wait = this.parts.clock.after(WAIT_MS, goLive, { background: true });
  }

  get #processes(): Iterable<StartedProcess> {
    return this.#session?.started.values() ?? [];
  }

  #pump(): void {
    this.#wake();
    this.#turns.take(
      this.#processes,
      ({ feed }) => feed.pump(),
      () => this.hasRoom,
    );
  }

  /** One after the other: each may make a large reply, after which there is no room. */
  #wake(): void {
    if (!this.hasRoom || this.#waiting.length === 0) return;
    this.#waiting.shift()?.();
    setImmediate(() => this.#wake());
  }

  #renew(): void {
    for (const { feed } of this.#processes) feed.renew();
  }

  #drop(): void {
    this.#finish();
    this.#transport.terminate();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#liveness.end();
    this.#wait?.();
    this.#outbox.end();
    const reason = new CodexError(CODE.failed, "the connection of the request is gone");
    this.#gone.abort(reason);
    this.#pending.end(reason);
    for (const wake of this.#waiting.splice(0)) wake();
    if (this.#session) this.parts.sessions.detach(this.#session, this);
    this.parts.onOver(this);
  }
}
