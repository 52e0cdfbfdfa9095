// One connection: hello, then requests in and frames out. What must survive it lives in its Session.
//
//  opened --hello--> serving --closed--> over
//     \--bad, late or refused hello--> over
import {
  type ClientMessage,
  checkClientMessage,
  checkParams,
  decode,
  encode,
  type HelloMessage,
  isMethod,
  type MethodName,
  type Methods,
  PROTOCOL_VERSION,
  type ProcessInfo,
  type ReplyMessage,
  type RequestMessage,
  type ServerMessage,
} from "../../protocol/index.ts";
import type { Cancel } from "../clock.ts";
import { ExecwireError, refuse, toWireError } from "../errors.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { roleOf } from "./auth.ts";
import { ChangeFeed } from "./change-feed.ts";
import type { Channel } from "./channel.ts";
import { type MethodContext, methods } from "./methods.ts";
import { Outbox } from "./outbox.ts";
import type { ServerParts } from "./parts.ts";
import type { Session, SessionConnection } from "./session.ts";
import { tooManyRequests } from "./sessions.ts";
import { Subscription } from "./subscription.ts";

/** How a failed hello closes the connection. */
const REFUSAL_CODES: Partial<Record<ExecwireError["code"], number>> = {
  UNAUTHORIZED: CLOSE.unauthorized,
  SESSION_UNKNOWN: CLOSE.sessionUnknown,
  VERSION_UNSUPPORTED: CLOSE.version,
  LIMIT_EXCEEDED: CLOSE.tryLater,
};

/** Serves one transport. */
export class Connection implements SessionConnection {
  readonly #parts: ServerParts;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #changes: ChangeFeed;
  readonly #subscriptions = new Map<Channel, Subscription>();
  /** Token that came with the transport. */
  readonly #token: string | undefined;
  #session: Session | undefined;
  #deadline: Cancel;
  #unansweredPings = 0;
  #over = false;

  constructor(parts: ServerParts, transport: Transport, token: string | undefined) {
    this.#parts = parts;
    this.#transport = transport;
    this.#token = token;
    const { limits, clock } = parts;
    this.#outbox = new Outbox(
      transport,
      limits,
      () => this.#pump(),
      () => this.close(CLOSE.tryLater, "the connection is not read"),
    );
    this.#changes = new ChangeFeed(this.#outbox);
    this.#deadline = clock.after(limits.handshakeMs, () => this.close(CLOSE.timeout, "no hello in time"));
    transport.listen({ frame: (frame) => this.#receive(frame), closed: () => this.#end() });
  }

  send(frame: Uint8Array): void {
    if (!this.#over) this.#outbox.send(frame);
  }

  supersede(): void {
    this.close(CLOSE.superseded, "another connection has taken the session over");
  }

  /** Ends the connection; its session stays. */
  close(code: number, reason: string): void {
    if (this.#over) return;
    this.#end();
    this.#transport.close(code, reason);
  }

  /** Tells the watcher, if this connection is one, of a change. */
  changed(process: ProcessInfo): void {
    this.#changes.add(process);
  }

  #receive(frame: Uint8Array): void {
    if (this.#over) return;
    this.#unansweredPings = 0;
    const message = this.#parse(frame);
    if (!message) return;
    if (!this.#session) {
      if (message.type === "hello") this.#greet(message);
      else this.close(CLOSE.protocol, "the first message must be hello");
      return;
    }
    switch (message.type) {
      case "hello":
        return this.close(CLOSE.protocol, "hello was said before");
      case "request":
        return this.#onRequest(message, this.#session);
      case "ack":
        for (const [channel, subscription] of this.#subscriptions)
          if (channel.id === message.channel) subscription.ack(message.seq);
        return;
      case "ping":
        return this.#say({ type: "pong" });
      case "pong":
        for (const subscription of this.#subscriptions.values()) subscription.renew();
        return;
    }
  }

  #parse(frame: Uint8Array): ClientMessage | undefined {
    try {
      const message = decode(frame);
      const problem = checkClientMessage(message);
      if (!problem) return message as ClientMessage;
      this.close(CLOSE.protocol, `${problem.field} ${problem.message}`.slice(0, 120));
    } catch {
      this.close(CLOSE.protocol, "the frame is not a message");
    }
    return undefined;
  }

  #greet({ version, token, resume }: HelloMessage): void {
    try {
      const { sessions, auth, limits } = this.#parts;
      if (version !== PROTOCOL_VERSION) {
        throw new ExecwireError(
          "VERSION_UNSUPPORTED",
          `this server speaks version ${PROTOCOL_VERSION}, not ${version}`,
        );
      }
      const role = roleOf(auth, token ?? this.#token);
      if (!role) throw new ExecwireError("UNAUTHORIZED", "the token is missing or wrong");
      const session = resume ? sessions.resume(resume, role) : sessions.open(role);
      this.#session = session;
      sessions.attach(session, this);
      const { sessionTtlMs, pingMs, frameBytes } = limits;
      this.#say({
        type: "welcome",
        version: PROTOCOL_VERSION,
        sessionId: session.id,
        secret: session.secret,
        resumed: resume !== undefined,
        limits: { sessionTtlMs, pingMs, frameBytes },
      });
      this.#armPing();
    } catch (error) {
      const { code, message } = error as ExecwireError;
      this.close(REFUSAL_CODES[code] ?? CLOSE.protocol, message);
    }
  }

  #onRequest(request: RequestMessage, session: Session): void {
    session.forget(request.acked);
    const { id, method } = request;
    // Begun after the reply that announces them.
    const announced: Subscription[] = [];
    const perform = () => this.#perform(request, session, announced);
    const begin = () => {
      for (const subscription of announced) subscription.start();
    };
    if (isMethod(method) && methods[method].once) {
      if (session.pending >= this.#parts.limits.requests) return this.#say(tooManyRequests(id));
      return session.once(id, perform, begin);
    }
    void perform().then((reply) => {
      this.#say(reply);
      begin();
    });
  }

  /** Never rejects: a refusal is a reply. */
  async #perform(
    { id, method, params }: RequestMessage,
    session: Session,
    announced: Subscription[],
  ): Promise<ReplyMessage> {
    try {
      if (!isMethod(method)) refuse({ field: "method", message: `${String(method)} is not known to this server` });
      refuse(checkParams(method, params));
      if (session.role === "view" && !methods[method].view) {
        throw new ExecwireError("FORBIDDEN", `a viewer may not call ${method}`);
      }
      return { type: "reply", id, result: await call(method, params, this.#contextOf(session, announced)) };
    } catch (error) {
      return { type: "reply", id, error: toWireError(error) };
    }
  }

  #contextOf(session: Session, announced: Subscription[]): MethodContext {
    const { backend, channels, closeSession } = this.#parts;
    return {
      backend,
      channels,
      session,
      subscribe: (channel, afterSeq, delivery) => {
        this.#unsubscribe(channel);
        if (this.#over) return;
        const { windowBytes } = this.#parts.limits;
        const subscription = new Subscription(channel, this.#outbox, { afterSeq, delivery, windowBytes });
        this.#subscriptions.set(channel, subscription);
        announced.push(subscription);
      },
      unsubscribe: (channel) => this.#unsubscribe(channel),
      watchChanges: () => this.#changes.open(),
      closeSession: (graceMs) => {
        // Who says goodbye reads no more: nothing may wait for it.
        for (const channel of this.#subscriptions.keys()) this.#unsubscribe(channel);
        return closeSession(session, graceMs);
      },
    };
  }

  #unsubscribe(channel: Channel): void {
    this.#subscriptions.get(channel)?.end();
    this.#subscriptions.delete(channel);
  }

  #pump(): void {
    this.#changes.pump();
    for (const subscription of this.#subscriptions.values()) subscription.pump();
  }

  /** Two silent intervals in a row, and nobody is there any more. */
  #armPing(): void {
    const { clock, limits } = this.#parts;
    this.#deadline();
    this.#deadline = clock.after(
      limits.pingMs,
      () => {
        if (this.#unansweredPings >= 2) return this.#drop();
        this.#unansweredPings += 1;
        this.#say({ type: "ping" });
        this.#armPing();
      },
      { background: true },
    );
  }

  #drop(): void {
    this.#end();
    this.#transport.terminate();
  }

  #say(message: ServerMessage): void {
    this.send(encode(message));
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline();
    for (const subscription of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
    if (this.#session) this.#parts.sessions.detach(this.#session, this);
    this.#parts.onOver(this);
  }
}

function call<M extends MethodName>(
  method: M,
  params: RequestMessage["params"],
  context: MethodContext,
): Promise<Methods[M]["result"]> {
  return methods[method].handle(params as Methods[M]["params"], context);
}
