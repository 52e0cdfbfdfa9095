// One connection of this dialect: the handshake, then requests in and replies and notifications out. What must survive it
// lives in its session and in the logs.
//
//  opened --initialize--> greeted --initialized--> ready --closed--> over
//
// What is no message is answered with id -1; nothing a client says costs it the connection.
import type { Cancel } from "../../clock.ts";
import { Outbox } from "../../server/outbox.ts";
import type { ServedConnection, ServerParts } from "../../server/parts.ts";
import { CLOSE, type Transport } from "../../transport/transport.ts";
import { CODE, CodexError, toCodexError } from "../codex-error.ts";
import { optional, string, struct } from "../decode.ts";
import { type Envelope, encodeCall, encodeError, encodeResult, type Id, NO_ID, parseEnvelope } from "../envelope.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import { FramePool } from "./frame-pool.ts";
import { Announcement, type Family, type Methods, RawResult } from "./method.ts";
import { methodsOf } from "./methods.ts";
import type { ProcessScope } from "./process-methods.ts";
import { Receipts, type Sender } from "./receipts.ts";
import { CodexSession, type Provable } from "./session.ts";

/** A client that is back and reads nothing gets its events after this time. */
const HELD_MS = 1000;
/** An attached connection that gives no sign of life for this long, when somebody else wants its session, is dead. */
const PROOF_MS = 3000;
/** Replies may be as large as the largest file that can be read, in base64. */
const MAX_REPLY_BYTES = 768 * 1024 * 1024;

const initializeParams = struct("InitializeParams", { clientName: string, resumeSessionId: optional(string) });

/** Serves one transport. */
export class CodexConnection implements ServedConnection, ProcessScope, Provable {
  readonly parts: ServerParts;
  readonly #transport: Transport;
  readonly #info: EnvironmentInfo;
  readonly #outbox: Outbox;
  readonly #receipts: Receipts;
  readonly #methods: Methods;
  readonly #gone = new AbortController();
  readonly #waiting: (() => void)[] = [];
  readonly #frames = new FramePool();
  readonly #recycle = (frame: Uint8Array) => this.#frames.give(frame);
  readonly allocate = (bytes: number) => this.#frames.take(bytes);
  #session: CodexSession | undefined;
  #isReady = false;
  #isOver = false;
  #running = 0;
  /** File operations are done one after another, as the exec-server does. */
  #files: Promise<unknown> = Promise.resolve();
  #ping: Cancel;
  #held: Cancel | undefined;
  #proof: Cancel | undefined;

  constructor(parts: ServerParts, transport: Transport, info: EnvironmentInfo) {
    this.parts = parts;
    this.#transport = transport;
    this.#info = info;
    const bounds = { outboxBytes: parts.limits.outboxBytes, outboxMaxBytes: MAX_REPLY_BYTES };
    this.#outbox = new Outbox(
      transport,
      bounds,
      () => this.#pump(),
      () => this.#drop(),
    );
    this.#receipts = new Receipts((sign) => transport.ping?.(sign));
    this.#methods = methodsOf(this, info);
    this.#ping = this.#armPing();
    transport.listen({
      frame: (frame) => this.#receive(frame),
      closed: () => this.#finish(),
      pong: (sign) => {
        this.#isAlive();
        this.#receipts.answered(sign);
      },
    });
  }

  get session(): CodexSession {
    if (!this.#session) throw new CodexError(CODE.refused, "client must call initialize before using exec methods");
    return this.#session;
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get shell(): string {
    return this.#info.shell.path;
  }

  get isOpen(): boolean {
    return !this.#isOver;
  }

  get hasRoom(): boolean {
    return this.#outbox.hasRoom;
  }

  push(sender: Sender, frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#outbox.send(frame, this.#recycle);
    this.#receipts.sent(sender, frame.length);
  }

  broken(): void {
    this.close(CLOSE.tryLater, "output was lost before this client took it; read what is left");
  }

  // What methods take along as functions.
  readonly notify = (method: string, params: unknown): void => this.send(encodeCall(method, params));
  readonly drained = (): Promise<void> => {
    if (this.hasRoom || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  };
  readonly filesSettled = (): Promise<unknown> => this.#files;

  send(frame: Uint8Array): void {
    if (!this.#isOver) this.#outbox.send(frame);
  }

  supersede(): void {
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

  proveAlive(): void {
    if (this.#proof) return;
    this.#proof = this.parts.clock.after(PROOF_MS, () => this.#drop());
    this.#receipts.ask();
  }

  #isAlive(): void {
    this.#proof?.();
    this.#proof = undefined;
  }

  #receive(frame: Uint8Array): void {
    if (this.#isOver) return;
    this.#isAlive();
    let envelope: Envelope;
    try {
      envelope = parseEnvelope(frame);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `failed to parse websocket JSON-RPC message from exec-server websocket: ${reason}`;
      return this.send(encodeError(NO_ID, new CodexError(CODE.refused, message)));
    }
    if (envelope.kind === "request") this.#request(envelope.id, envelope.method, envelope.params);
    else if (envelope.kind === "notification" && envelope.method === "initialized") this.#isReady = !!this.#session;
  }

  #request(id: Id, name: string, params: unknown): void {
    if (name === "initialize") return this.#answer(id, async () => this.#initialize(params));
    const { requests } = this.parts.limits;
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    this.#answer(id, async () => {
      if (!method) throw new CodexError(CODE.unknownMethod, `exec-server stub does not implement \`${name}\` yet`);
      const call = method.prepare(params);
      this.#checkReady(method.family);
      if (this.#running > requests) {
        throw new CodexError(CODE.refused, `more than ${requests} requests of this connection are running`);
      }
      return method.family === "filesystem" ? this.#inOrder(call) : call();
    });
  }

  #checkReady(family: Family): void {
    if (!this.#session) {
      throw new CodexError(CODE.refused, `client must call initialize before using ${family} methods`);
    }
    if (!this.#isReady) {
      throw new CodexError(CODE.refused, `client must send initialized before using ${family} methods`);
    }
  }

  #inOrder(call: () => Promise<unknown>): Promise<unknown> {
    const result = this.#files.then(call);
    this.#files = result.catch(() => undefined);
    return result;
  }

  #answer(id: Id, perform: () => Promise<unknown>): void {
    this.#running += 1;
    void perform()
      .then(
        (result) => {
          const announced = result instanceof Announcement ? result : undefined;
          this.send(resultFrame(id, announced ? announced.result : result));
          announced?.begin();
        },
        (error) => this.send(encodeError(id, toCodexError(error))),
      )
      .finally(() => {
        this.#running -= 1;
      });
  }

  #initialize(params: unknown): Announcement {
    const { resumeSessionId } = initializeParams.decode(params);
    if (this.#session) throw new CodexError(CODE.refused, "initialize may only be sent once per connection");
    const session = resumeSessionId === undefined ? this.#openSession() : this.#resume(resumeSessionId);
    this.#session = session;
    this.parts.sessions.attach(session, this);
    if (resumeSessionId !== undefined) this.parts.metrics.resumes += 1;
    session.attachedTo = this;
    const result = { sessionId: session.id, environmentInfo: this.#info };
    return new Announcement(result, () => this.#follow(session));
  }

  #openSession(): CodexSession {
    return this.parts.sessions.add(new CodexSession());
  }

  #resume(id: string): CodexSession {
    const session = this.parts.sessions.find(id);
    if (!(session instanceof CodexSession)) throw new CodexError(CODE.refused, `unknown session id ${id}`);
    if (!session.connected) return session;
    // The other end may be gone without a word: it is asked, and the next attempt may find it gone.
    session.attachedTo?.proveAlive();
    throw new CodexError(CODE.attached, `session ${id} is already attached to another connection`);
  }

  /** After a resume: everything the session started goes on here. */
  #follow(session: CodexSession): void {
    if (this.#isOver || session.started.size === 0) return;
    for (const { feed } of session.started.values()) feed.attach(this, { resumed: true });
    this.#held = this.parts.clock.after(
      HELD_MS,
      () => {
        for (const { feed } of session.started.values()) feed.unhold();
      },
      { background: true },
    );
  }

  #pump(): void {
    for (const wake of this.#waiting.splice(0)) wake();
    for (const { feed } of this.#session?.started.values() ?? []) feed.pump();
  }

  #armPing(): Cancel {
    const { clock, limits } = this.parts;
    return clock.after(
      limits.pingMs,
      () => {
        this.#receipts.ask();
        for (const { feed } of this.#session?.started.values() ?? []) feed.renew();
        this.#ping = this.#armPing();
      },
      { background: true },
    );
  }

  #drop(): void {
    this.#finish();
    this.#transport.terminate();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ping();
    this.#held?.();
    this.#isAlive();
    this.#gone.abort(new CodexError(CODE.failed, "the connection of the request is gone"));
    for (const wake of this.#waiting.splice(0)) wake();
    const session = this.#session;
    if (session?.attachedTo === this) {
      session.attachedTo = undefined;
      for (const { feed } of session.started.values()) feed.detach();
      this.parts.sessions.detach(session, this);
    }
    this.parts.onOver(this);
  }
}

function resultFrame(id: Id, result: unknown): Buffer {
  return encodeResult(id, result instanceof RawResult ? result.parts : JSON.stringify(result ?? {}));
}
