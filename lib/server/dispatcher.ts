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
import type { ChangeSubscription } from "./change-subscription.ts";
import { type MethodContext, methods } from "./methods.ts";
import type { Outbox } from "./outbox.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { NativeSession } from "./resumption.ts";
import { RoundRobin } from "./round-robin.ts";
import type { ServerContext } from "./server-context.ts";
import type { SharedProcess } from "./shared-process.ts";
import { Subscription } from "./subscription.ts";
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
  readonly #context: ServerContext;
  readonly #session: NativeSession;
  readonly #outbox: Outbox;
  readonly #changes: ChangeSubscription;
  /** By shared number. */
  readonly #subscriptions = new Map<number, { readonly shared: SharedProcess; readonly subscription: Subscription }>();
  readonly #roundRobin = new RoundRobin();
  /** Aborted at the end: nobody waits for answers any more. */
  readonly #pending = new PendingCalls();
  /** Requests being performed that change nothing; the others are the session's. */
  #runningQueries = 0;
  #over = false;

  constructor(context: ServerContext, session: NativeSession, outbox: Outbox, changes: ChangeSubscription) {
    this.#context = context;
    this.#session = session;
    this.#outbox = outbox;
    this.#changes = changes;
  }

  /** Whether something is followed or being asked. */
  get isBusy(): boolean {
    return this.#runningQueries > 0 || this.#subscriptions.size > 0;
  }

  /** The connection is gone; its answers are not read. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Performs a request that came in so many bytes; its reply is sent when there is one, and room for it. */
  request(request: RequestMessage, bytes: number): void {
    const session = this.#session;
    session.state.forget(request.acked);
    const { id, method } = request;
    if (session.role === "view" && isMethod(method) && !methods[method].view) {
      // Before anything of it is looked at or kept.
      return this.#refuse(id, new ExecwireError("FORBIDDEN", `a viewer may not call ${method}`));
    }
    const { limits, metrics } = this.#context;
    const once = isMethod(method) && methods[method].once;
    const isKnown = once && session.state.knows(id);
    if (isKnown) metrics.duplicates += 1;
    const cost = bytes + limits.requestOverheadBytes;
    // One that is known is not one more.
    if (once ? session.state.isFull(limits) && !isKnown : !this.#chargeQuery(cost)) {
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
      return session.state.once(id, act, (frame) => session.connection?.send(frame), begin);
    }
    this.#runningQueries += 1;
    void this.#perform(request, announced).then((reply) => {
      if (this.#over) return;
      const answer = (make: () => Uint8Array) => {
        this.#runningQueries -= 1;
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

  #chargeQuery(cost: number): boolean {
    const { limits } = this.#context;
    const max = this.#session.role === "view" ? limits.viewRequests : limits.requests;
    return this.#runningQueries < max && this.#outbox.tryCharge(cost);
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
      const result = await call(method, params, this.#methodContext(announced));
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
    if (frame.length <= this.#context.limits.frameBytes) return frame;
    const message = `the answer has ${frame.length} bytes, more than a frame may have; ask for less at a time`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "frameBytes" } });
  }

  #methodContext(announced: Subscription[]): MethodContext {
    const session = this.#session;
    const { backend, processes, closeSession, limits, resources } = this.#context;
    const inTurn = <T>(key: string, call: () => Promise<T>) => resources.queries[session.role].run(this, key, call);
    return {
      backend,
      processes,
      session,
      limits,
      inTurn,
      whileConnected: (call) => this.#pending.run(call),
      look: (what, { incarnation }, call) =>
        session.role === "view" ? inTurn(`${what} ${incarnation}`, call) : call(),
      subscribe: (shared, afterSeq, delivery, acked = afterSeq) => {
        this.#end(shared);
        if (delivery === "gap") session.state.release(shared);
        const position = delivery === "lossless" ? session.state.positionOf(shared, acked) : undefined;
        // Asked for by a connection that is gone: what is held is there for the next one.
        if (this.#over) return;
        const subscription = new Subscription(shared.process.log, viewer(shared, this.#outbox), {
          afterSeq,
          position,
          windowBytes: limits.windowBytes,
        });
        this.#subscriptions.set(shared.channel, { shared, subscription });
        announced.push(subscription);
      },
      unsubscribe: (shared) => {
        this.#end(shared);
        session.state.release(shared);
      },
      watchChanges: () => this.#changes.open(),
      closeSession: (graceMs) => {
        // Who says goodbye may read no more: no process is held back for it, but it still sees how they end.
        session.end();
        return closeSession(session, graceMs);
      },
    };
  }

  #end(shared: SharedProcess): void {
    this.#subscriptions.get(shared.channel)?.subscription.end();
    this.#subscriptions.delete(shared.channel);
  }

  /** A lossless subscriber has taken everything up to `seq`. */
  ack(channel: number, seq: Seq): void {
    this.#subscriptions.get(channel)?.subscription.ack(seq);
  }

  /** There is room in the outbox. */
  pump(): void {
    this.#roundRobin.serve(
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
