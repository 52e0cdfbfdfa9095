// Runs the requests of one connection, and owns its subscriptions.
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
import { type MethodContext, methods } from "./methods.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { ChangeSubscription } from "./sending/change-subscription.ts";
import type { Outbox } from "./sending/outbox.ts";
import { RoundRobin } from "./sending/round-robin.ts";
import { Subscription } from "./sending/subscription.ts";
import { viewer } from "./sending/viewer.ts";
import type { ServerContext } from "./server-context.ts";
import type { NativeSession } from "./sessions/resumption.ts";
import type { SharedProcess } from "./shared-process.ts";

/** A reply that is not encoded yet. */
interface Reply {
  /** Encodes the frame, which may be large. Never throws: an error becomes an error reply. */
  make(): Uint8Array;
  /** Approximate bytes of memory that the result occupies until then. */
  readonly keeps: number;
}

/** Approximate heap bytes of an output chunk beyond its data, and of a process info. */
const CHUNK_BYTES = 320;
const INFO_BYTES = 512;

/** Runs the requests of a connection after its hello. */
export class Dispatcher {
  readonly #context: ServerContext;
  readonly #session: NativeSession;
  readonly #outbox: Outbox;
  readonly #changes: ChangeSubscription;
  /** By channel number. */
  readonly #subscriptions = new Map<number, { readonly shared: SharedProcess; readonly subscription: Subscription }>();
  readonly #roundRobin = new RoundRobin();
  /** Aborted when the connection ends: their replies could not be sent. */
  readonly #pending = new PendingCalls();
  /** Running requests that change nothing. Requests with `once` are counted by the session. */
  #runningQueries = 0;
  #over = false;

  constructor(context: ServerContext, session: NativeSession, outbox: Outbox, changes: ChangeSubscription) {
    this.#context = context;
    this.#session = session;
    this.#outbox = outbox;
    this.#changes = changes;
  }

  /** Whether the connection has a subscription or a running query. */
  get isBusy(): boolean {
    return this.#runningQueries > 0 || this.#subscriptions.size > 0;
  }

  /** The connection has ended; replies are not sent. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Runs a request that arrived in a frame of `bytes`. Its reply is sent once the outbox has room for it. */
  request(request: RequestMessage, bytes: number): void {
    const session = this.#session;
    session.state.forget(request.acked);
    const { id, method } = request;
    if (session.role === "view" && isMethod(method) && !methods[method].view) {
      // Refused before its parameters are checked or anything is stored.
      return this.#refuse(id, new ExecwireError("FORBIDDEN", `a viewer may not call ${method}`));
    }
    const { limits, metrics } = this.#context;
    const once = isMethod(method) && methods[method].once;
    const isKnown = once && session.state.knows(id);
    if (isKnown) metrics.duplicates += 1;
    const cost = bytes + limits.requestOverheadBytes;
    // A repeated request does not count again.
    if (once ? session.state.isFull(limits) && !isKnown : !this.#chargeQuery(cost)) {
      const message = "too many requests of this session are running, or too many replies are unacknowledged";
      return this.#refuse(id, new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "requests" } }));
    }
    // Started after the reply that announces them.
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
      // The result is dropped: it may hold output that the log has evicted. The request runs again once there is room.
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
      if (this.#session.over) throw new ExecwireError("CLOSED", "the session has ended");
      if (!isMethod(method)) throw invalidParams({ field: "method", message: `this server has no method ${method}` });
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
    const message = `the reply has ${frame.length} bytes, more than a frame may have; request less at a time`;
    throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "frameBytes" } });
  }

  #methodContext(announced: Subscription[]): MethodContext {
    const session = this.#session;
    const { backend, processes, closeSession, limits, resources } = this.#context;
    const queued = <T>(key: string, call: () => Promise<T>) => resources.queries[session.role].run(this, key, call);
    return {
      backend,
      processes,
      session,
      limits,
      queued,
      whileConnected: (call) => this.#pending.run(call),
      inspect: (what, { incarnation }, call) =>
        session.role === "view" ? queued(`${what} ${incarnation}`, call) : call(),
      subscribe: (shared, afterSeq, delivery, acked = afterSeq) => {
        this.#end(shared);
        if (delivery === "gap") session.state.release(shared);
        const position = delivery === "lossless" ? session.state.positionOf(shared, acked) : undefined;
        // The connection has ended meanwhile; the position stays held for the next one.
        if (this.#over) return;
        const subscription = new Subscription(shared.log, viewer(shared, this.#outbox), {
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
        // The client may stop reading now, so its positions no longer pause a process. It still sees how the processes end.
        session.end();
        return closeSession(session, graceMs);
      },
    };
  }

  #end(shared: SharedProcess): void {
    this.#subscriptions.get(shared.channel)?.subscription.end();
    this.#subscriptions.delete(shared.channel);
  }

  /** A lossless subscriber has received everything up to `seq`. */
  ack(channel: number, seq: Seq): void {
    this.#subscriptions.get(channel)?.subscription.ack(seq);
  }

  /** Continues the subscriptions while the outbox has room. */
  pump(): void {
    this.#roundRobin.serve(
      this.#subscriptions.values(),
      ({ subscription }) => subscription.pump(),
      () => this.#outbox.hasRoom,
    );
  }

  /** Ends all subscriptions and pending calls: the connection has ended. */
  end(): void {
    this.#over = true;
    this.#pending.end(new ExecwireError("CONNECTION_LOST", "the connection of the request was lost"));
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
