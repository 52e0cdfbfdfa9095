// What one connection asks for: its requests are performed here, and its subscriptions live here.
import {
  checkParams,
  encode,
  isMethod,
  type MethodName,
  type Methods,
  type ReplyMessage,
  type RequestMessage,
  type Seq,
} from "../../protocol/index.ts";
import { ExecwireError, invalidParams, refuse, toWireError } from "../errors.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Channel } from "./channel.ts";
import { type MethodContext, methods } from "./methods.ts";
import type { Outbox } from "./outbox.ts";
import type { ServerParts } from "./parts.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { NativeSession } from "./resumption.ts";
import { Subscription } from "./subscription.ts";
import { Turns } from "./turns.ts";
import { viewer } from "./viewer.ts";

/** A reply that is still to be made. */
interface Reply {
  /** Makes its frame, which may be large; does not throw: a refusal is a reply. */
  make(): Uint8Array;
  /** What the result keeps in memory until then, about. */
  readonly keeps: number;
}

/** What a chunk of output, and the description of a process, cost as objects. */
const CHUNK_BYTES = 320;
const INFO_BYTES = 512;

/** Performs the requests of a connection that has said hello. */
export class Dispatcher {
  readonly #parts: ServerParts;
  readonly #session: NativeSession;
  readonly #outbox: Outbox;
  readonly #changes: ChangeFeed;
  /** By channel number. */
  readonly #subscriptions = new Map<number, { readonly channel: Channel; readonly subscription: Subscription }>();
  readonly #turns = new Turns();
  /** Aborted at the end: nobody waits for answers any more. */
  readonly #pending = new PendingCalls();
  /** Requests being performed that change nothing; the others are the session's. */
  #looking = 0;
  #over = false;

  constructor(parts: ServerParts, session: NativeSession, outbox: Outbox, changes: ChangeFeed) {
    this.#parts = parts;
    this.#session = session;
    this.#outbox = outbox;
    this.#changes = changes;
  }

  /** Whether something is followed or being asked. */
  get isBusy(): boolean {
    return this.#looking > 0 || this.#subscriptions.size > 0;
  }

  /** The connection is gone; its answers are not read. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Performs a request that came in so many bytes; its reply is sent when there is one, and room for it. */
  request(request: RequestMessage, bytes: number): void {
    const session = this.#session;
    session.kept.forget(request.acked);
    const { id, method } = request;
    if (session.role === "view" && isMethod(method) && !methods[method].view) {
      // Before anything of it is looked at or kept.
      return this.#refuse(id, new ExecwireError("FORBIDDEN", `a viewer may not call ${method}`));
    }
    const { limits, metrics } = this.#parts;
    const once = isMethod(method) && methods[method].once;
    const isKnown = once && session.kept.knows(id);
    if (isKnown) metrics.duplicates += 1;
    const cost = bytes + limits.requestOverheadBytes;
    // One that is known is not one more.
    if (once ? session.kept.isFull(limits) && !isKnown : !this.#mayLook(cost)) {
      const message = "too many requests of this session are running, or too much is unacknowledged";
      return this.#refuse(id, new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "requests" } }));
    }
    // Begun after the reply that announces them.
    const announced: Subscription[] = [];
    const begin = () => {
      for (const subscription of announced) subscription.start();
    };
    if (once) {
      const act = async () => (await this.#perform(request, announced)).make();
      return session.kept.once(id, act, (frame) => session.connection?.send(frame), begin);
    }
    this.#looking += 1;
    void this.#perform(request, announced).then((reply) => {
      if (this.#over) return;
      const answer = (make: () => Uint8Array) => {
        this.#looking -= 1;
        this.#outbox.release(cost);
        return make();
      };
      if (this.#outbox.canAnswer || reply.keeps <= limits.requestOverheadBytes) {
        return this.#outbox.answer(() => answer(reply.make), begin);
      }
      // Not kept until there is room, or what a log has evicted would be kept with it: asked for again then.
      this.#outbox.reserve(reply.keeps, (use) => {
        void this.#perform(request, announced).then((again) => use(() => answer(again.make)));
      });
    });
  }

  #mayLook(cost: number): boolean {
    const { limits } = this.#parts;
    const max = this.#session.role === "view" ? limits.viewRequests : limits.requests;
    return this.#looking < max && this.#outbox.hold(cost);
  }

  #refuse(id: number, error: ExecwireError): void {
    this.#outbox.send(encode({ type: "reply", id, error: toWireError(error) }));
  }

  /** Never rejects. */
  async #perform({ id, method, params }: RequestMessage, announced: Subscription[]): Promise<Reply> {
    const refusal = (error: unknown) => encode({ type: "reply", id, error: toWireError(error) });
    try {
      if (this.#session.over) throw new ExecwireError("CLOSED", "the session is over");
      if (!isMethod(method)) throw invalidParams({ field: "method", message: `${method} is not known to this server` });
      refuse(checkParams(method, params));
      const result = await call(method, params, this.#contextOf(announced));
      const make = () => {
        try {
          return this.#encode({ type: "reply", id, result });
        } catch (error) {
          return refusal(error);
        }
      };
      return { make, keeps: keptBy(result) };
    } catch (error) {
      return { make: () => refusal(error), keeps: 0 };
    }
  }

  #encode(reply: ReplyMessage): Uint8Array {
    const frame = encode(reply);
    if (frame.length <= this.#parts.limits.frameBytes) return frame;
    const message = `the answer has ${frame.length} bytes, more than a frame may have; ask for less at a time`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "frameBytes" } });
  }

  #contextOf(announced: Subscription[]): MethodContext {
    const session = this.#session;
    const { backend, channels, closeSession, limits, shared } = this.#parts;
    const inTurn = <T>(key: string, call: () => Promise<T>) => shared.looks[session.role].ask(this, key, call);
    return {
      backend,
      channels,
      session,
      limits,
      inTurn,
      whileConnected: (call) => this.#pending.run(call),
      look: (what, { incarnation }, call) =>
        session.role === "view" ? inTurn(`${what} ${incarnation}`, call) : call(),
      subscribe: (channel, afterSeq, delivery, acked = afterSeq) => {
        this.#end(channel);
        if (delivery === "gap") session.kept.release(channel);
        const position = delivery === "lossless" ? session.kept.positionIn(channel, acked) : undefined;
        // Asked for by a connection that is gone: what is held is there for the next one.
        if (this.#over) return;
        const subscription = new Subscription(channel.process.log, viewer(channel, this.#outbox), {
          afterSeq,
          position,
          windowBytes: limits.windowBytes,
        });
        this.#subscriptions.set(channel.id, { channel, subscription });
        announced.push(subscription);
      },
      unsubscribe: (channel) => {
        this.#end(channel);
        session.kept.release(channel);
      },
      watchChanges: () => this.#changes.open(),
      closeSession: (graceMs) => {
        // Who says goodbye may read no more: no process is held back for it, but it still sees how they end.
        session.end();
        return closeSession(session, graceMs);
      },
    };
  }

  #end(channel: Channel): void {
    this.#subscriptions.get(channel.id)?.subscription.end();
    this.#subscriptions.delete(channel.id);
  }

  /** A lossless subscriber has taken everything up to `seq`. */
  ack(channel: number, seq: Seq): void {
    this.#subscriptions.get(channel)?.subscription.ack(seq);
  }

  /** There is room in the outbox. */
  pump(): void {
    this.#turns.take(
      this.#subscriptions.values(),
      ({ subscription }) => subscription.pump(),
      () => this.#outbox.hasRoom,
    );
  }

  /** The connection is gone. */
  end(): void {
    this.#over = true;
    this.#pending.end(new ExecwireError("CONNECTION_LOST", "the connection of the request is gone"));
    for (const { subscription } of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
  }
}

function call<M extends MethodName>(
  method: M,
  params: RequestMessage["params"],
  context: MethodContext,
): Promise<Methods[M]["result"]> {
  return methods[method].handle(params as Methods[M]["params"], context);
}

function keptBy(result: Methods[MethodName]["result"]): number {
  if ("chunks" in result) return result.chunks.reduce((sum, { chunk }) => sum + chunk.length + CHUNK_BYTES, 0);
  return "processes" in result ? result.processes.length * INFO_BYTES : 0;
}
