// One connection: hello, then requests in and frames out. State that must survive the connection lives in its Session.
//
//  opened --hello--> serving --closed--> over
//     \--bad, late or refused hello--> over
import {
  type ClientMessage,
  checkClientMessage,
  decode,
  encode,
  type HelloMessage,
  PROTOCOL_VERSION,
  type ProcessInfo,
  type ServerMessage,
} from "../../protocol/index.ts";
import type { Cancel } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { roleOf } from "./auth.ts";
import { Dispatcher } from "./dispatcher.ts";
import { ChangeSubscription } from "./sending/change-subscription.ts";
import { NetworkQuestions } from "./sending/network-questions.ts";
import { Outbox } from "./sending/outbox.ts";
import { Pace } from "./sending/pace.ts";
import type { ServedConnection, ServerContext } from "./server-context.ts";
import { type NativeSession, Resumption, resume as resumed } from "./sessions/resumption.ts";
import { Session } from "./sessions/session.ts";

/** The close code for each error of a hello. */
const REFUSAL_CODES: Partial<Record<ExecwireError["code"], number>> = {
  UNAUTHORIZED: CLOSE.unauthorized,
  SESSION_UNKNOWN: CLOSE.sessionUnknown,
  VERSION_UNSUPPORTED: CLOSE.version,
  LIMIT_EXCEEDED: CLOSE.tryLater,
};

/** Serves one transport. */
export class Connection implements ServedConnection {
  readonly #context: ServerContext;
  readonly #transport: Transport;
  #pace: Pace | undefined;
  readonly #outbox: Outbox;
  readonly #changes: ChangeSubscription;
  readonly network: NetworkQuestions;
  /** The token of the upgrade request. */
  readonly #token: string | undefined;
  #session: NativeSession | undefined;
  #dispatcher: Dispatcher | undefined;
  #deadline: Cancel;
  /** Limit on this peer's frames: small before hello, then by role. */
  #maxFrameBytes: number;
  #unansweredPings = 0;
  /** `Outbox.progress` when the last ping was due. */
  #lastProgress: string | undefined;
  #pongIsWaiting = false;
  #over = false;

  constructor(context: ServerContext, transport: Transport, token: string | undefined) {
    this.#context = context;
    this.#transport = transport;
    this.#token = token;
    const { limits, clock } = context;
    this.#outbox = new Outbox(transport, limits, {
      onRoom: () => this.#pump(),
      // A peer that does not read would not read a close frame either.
      onOverflow: () => this.#drop(),
      onStalled: () => this.close(CLOSE.tryLater, "the client does not read what was sent"),
    });
    this.network = new NetworkQuestions(this.#outbox);
    this.#changes = new ChangeSubscription(this.#outbox, limits.frameBytes);
    this.#deadline = clock.after(limits.handshakeMs, () =>
      this.close(CLOSE.timeout, "no hello within the handshake time"),
    );
    this.#maxFrameBytes = Math.min(limits.helloBytes, limits.frameBytes);
    transport.limitFrames?.(this.#maxFrameBytes);
    transport.listen({
      frame: (frame) => this.#receive(frame),
      pong: (id) => {
        this.#unansweredPings = 0;
        this.#outbox.answered(id);
      },
      closed: () => {
        this.#finish();
        context.slots.free(this);
      },
    });
  }

  send(frame: Uint8Array): void {
    if (!this.#over) this.#outbox.send(frame);
  }

  /** Whether the connection has no subscription and waits for no reply. */
  get isIdle(): boolean {
    return !this.#changes.isOpen && !this.#dispatcher?.isBusy;
  }

  get owesOutput(): boolean {
    return this.#dispatcher?.owesOutput ?? false;
  }

  /** Ends the connection to make room for another one. */
  evict(): void {
    this.#drop();
  }

  supersede(): void {
    this.close(CLOSE.superseded, "another connection has resumed the session");
  }

  close(code: number, reason: string): void {
    if (this.#over) return;
    this.#finish();
    if (code >= CLOSE.protocol && code !== CLOSE.superseded) this.#context.onRefused(code, reason);
    this.#transport.close(code, reason);
  }

  changed(process: ProcessInfo): void {
    this.#changes.add(process);
  }

  #receive(frame: Uint8Array): void {
    if (this.#over) return;
    this.#unansweredPings = 0;
    // Checked here too, since not every transport limits frames.
    if (frame.length > this.#maxFrameBytes)
      return this.close(CLOSE.tooBig, `the frame exceeds ${this.#maxFrameBytes} bytes`);
    const message = this.#parse(frame);
    if (!message) return;
    if (!this.#dispatcher) {
      if (message.type === "hello") this.#onHello(message);
      else this.close(CLOSE.protocol, "the first message must be hello");
      return;
    }
    switch (message.type) {
      case "hello":
        return this.close(CLOSE.protocol, "hello may only be sent once per connection");
      case "request":
        return this.#dispatcher.request(message, frame.length);
      case "ack":
        return this.#dispatcher.ack(message.channel, message.seq);
      case "networkAnswer":
        return this.network.answer(message.id, message.answer);
      case "ping":
        return this.#pong();
      case "pong":
        return this.#transport.ping ? undefined : this.#outbox.answered();
    }
  }

  #parse(frame: Uint8Array): ClientMessage | undefined {
    try {
      const message = decode(frame, this.#context.limits);
      const problem = checkClientMessage(message);
      if (!problem) return message as ClientMessage;
      this.close(CLOSE.protocol, `${problem.field} ${problem.message}`);
    } catch {
      this.close(CLOSE.protocol, "the frame is not a message");
    }
    return undefined;
  }

  #onHello({ version, token, resume }: HelloMessage): void {
    try {
      const { sessions, auth, limits, metrics, resources } = this.#context;
      if (version !== PROTOCOL_VERSION) {
        throw new ExecwireError(
          "VERSION_UNSUPPORTED",
          `this server supports version ${PROTOCOL_VERSION}, not ${version}`,
        );
      }
      const role = roleOf(auth, token ?? this.#token);
      if (!role) throw new ExecwireError("UNAUTHORIZED", "the token is missing or wrong");
      this.#context.slots.take(this, role);
      const session = resume
        ? resumed(sessions, resume, role)
        : sessions.add(new Session(role, new Resumption(resources.replies, limits.frameOverheadBytes)));
      this.#session = session;
      this.#outbox.join(resources.memory[role]);
      // A viewer types nothing that would wait behind its output, and its answers wait until all other peers are served.
      if (role === "control") this.#keepPace();
      this.#transport.rank?.(role === "control" ? "first" : "last");
      this.#dispatcher = new Dispatcher(this.#context, session, this.#outbox, this.#changes);
      sessions.attach(session, this);
      if (resume) metrics.resumes += 1;
      const { pingMs, windowBytes } = limits;
      const frameBytes = role === "view" ? Math.min(limits.viewFrameBytes, limits.frameBytes) : limits.frameBytes;
      this.#maxFrameBytes = frameBytes;
      this.#transport.limitFrames?.(frameBytes);
      this.#transport.admit?.();
      const sessionTtlMs = sessions.ttlMs(role);
      this.#sendMessage({
        type: "welcome",
        version: PROTOCOL_VERSION,
        sessionId: session.id,
        secret: session.state.secret,
        resumed: resume !== undefined,
        limits: { sessionTtlMs, pingMs, frameBytes, windowBytes },
      });
      this.#armPing();
    } catch (error) {
      const { code, message } = error as ExecwireError;
      this.close(REFUSAL_CODES[code] ?? CLOSE.protocol, message);
    }
  }

  /** One pong answers all pings that arrive before it is sent, so a flood of pings cannot grow the outbox. */
  #pong(): void {
    if (this.#pongIsWaiting) return;
    this.#pongIsWaiting = true;
    this.#outbox.push(encode({ type: "pong" }), () => {
      this.#pongIsWaiting = false;
    });
  }

  #pump(): void {
    this.#changes.pump();
    this.#dispatcher?.pump();
  }

  /** Pings at every interval, and drops a peer that was silent for two intervals in a row. */
  #armPing(): void {
    const { clock, limits } = this.#context;
    this.#deadline();
    this.#deadline = clock.after(
      limits.pingMs,
      () => {
        // A peer that reads is alive, even while its own frames are not being read here.
        const { progress } = this.#outbox;
        if (progress !== undefined && progress !== this.#lastProgress) this.#unansweredPings = 0;
        this.#lastProgress = progress;
        if (this.#unansweredPings >= 2) return this.#drop();
        this.#unansweredPings += 1;
        this.#ping();
        this.#armPing();
      },
      { background: true },
    );
  }

  #keepPace(): void {
    const transport = this.#transport;
    let id = 0;
    const ping = () => {
      id += 1;
      if (transport.ping) transport.ping(id);
      else this.#ping();
      return id;
    };
    const { clock } = this.#context;
    this.#pace = new Pace({ clock, ping, isAnonymous: !transport.ping, onRoom: () => this.#pump() });
    this.#outbox.keepPace(this.#pace);
  }

  #ping(): void {
    this.#sendMessage({ type: "ping" });
  }

  #drop(): void {
    this.#finish();
    this.#transport.terminate();
  }

  #sendMessage(message: ServerMessage): void {
    this.send(encode(message));
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline();
    this.#outbox.end();
    this.#pace?.end();
    this.#dispatcher?.end();
    this.network.end();
    if (this.#session) this.#context.sessions.detach(this.#session, this);
    this.#context.onOver(this);
  }
}
