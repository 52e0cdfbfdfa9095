// Pending requests: numbered, kept until their replies arrive, and sent again in order after a reconnect.
import {
  checkResult,
  type MethodName,
  type Methods,
  type ReplyMessage,
  type RequestMessage,
} from "../../protocol/index.ts";
import { ExecwireError, fromWireError } from "../errors.ts";
import { explained } from "./session-loss.ts";

/** Handles a reply synchronously, because the messages behind it on the wire may depend on it. */
export interface ReplyHandler<T> {
  onResult(result: T): void;
  onError(error: ExecwireError): void;
}

interface Pending {
  readonly message: RequestMessage;
  readonly handler: ReplyHandler<never>;
  readonly again: boolean;
  /** The session in which it was sent first is lost. */
  sessionLoss?: ExecwireError;
}

/** Methods that change nothing: in any session they give the same result. */
const READ_ONLY: ReadonlySet<MethodName> = new Set<MethodName>([
  "process/attach",
  "process/list",
  "process/subscribe",
  "process/unsubscribe",
  "process/read",
  "process/holders",
  "process/activity",
  "changes/watch",
]);

/** The requests of one client. */
export class Requests {
  readonly #send: (message: RequestMessage) => void;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  /** Ids of replies that the next request acknowledges. */
  #unacked: number[] = [];
  #failure: ExecwireError | undefined;

  /** `send` drops the message while there is no connection. */
  constructor(send: (message: RequestMessage) => void) {
    this.#send = send;
  }

  /** Ids of the requests without a reply. */
  get pending(): number[] {
    return [...this.#pending.keys()];
  }

  /** Whether no pending request changes anything. */
  get areReadOnly(): boolean {
    return [...this.#pending.values()].every(({ message }) => READ_ONLY.has(message.method as MethodName));
  }

  /** Calls a method. Rejects with the error of the server, or the reason why the connection is closed for good. */
  call<M extends MethodName>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return new Promise((resolve, reject) => this.request(method, params, { onResult: resolve, onError: reject }));
  }

  /** The same with a synchronous handler. With `again: false` a lost connection drops the request and its handler. */
  request<M extends MethodName>(
    method: M,
    params: Methods[M]["params"],
    handler: ReplyHandler<Methods[M]["result"]>,
    { again = true }: { readonly again?: boolean } = {},
  ): void {
    if (this.#failure) return handler.onError(this.#failure);
    this.#lastId += 1;
    const message: RequestMessage = {
      type: "request",
      id: this.#lastId,
      acked: this.#unacked,
      method,
      params: { ...params },
    };
    this.#unacked = [];
    this.#pending.set(message.id, { message, handler: handler as ReplyHandler<never>, again });
    try {
      this.#send(message);
    } catch (error) {
      this.#pending.delete(message.id);
      handler.onError(error as ExecwireError);
    }
  }

  /** Handles a reply; a second reply to the same request is ignored. Returns the violation when the result is invalid. */
  settle(reply: ReplyMessage): ExecwireError | undefined {
    const pending = this.#pending.get(reply.id);
    if (!pending) return undefined;
    this.#pending.delete(reply.id);
    this.#unacked.push(reply.id);
    const { handler, message } = pending;
    if ("error" in reply) {
      handler.onError(explained(fromWireError(reply.error), pending.sessionLoss));
      return undefined;
    }
    const problem = checkResult(message.method, reply.result as Readonly<Record<string, unknown>>);
    if (!problem) {
      handler.onResult(reply.result as never);
      return undefined;
    }
    const text = `the server sent an invalid reply to ${message.method}: ${problem.field} ${problem.message}`;
    const violation = new ExecwireError("PROTOCOL_VIOLATION", text);
    handler.onError(violation);
    return violation;
  }

  /** After a reconnect: sends every pending request again, in the order of the calls. */
  sendAgain(): void {
    for (const [id, { message, handler, again }] of this.#pending) {
      if (!again) {
        this.#pending.delete(id);
        continue;
      }
      try {
        // The hello has listed the pending requests, which acknowledges all other replies.
        this.#send({ ...message, acked: [] });
      } catch (error) {
        this.#pending.delete(id);
        handler.onError(error as ExecwireError);
      }
    }
  }

  /**
   * The session is lost. Fails the pending requests that change something: it is not known whether the server has handled them.
   * The others are sent again. One about an incarnation that the next server does not know fails with the loss too.
   */
  loseSession(error: ExecwireError): void {
    for (const [id, pending] of [...this.#pending]) {
      const { method, params } = pending.message;
      if (READ_ONLY.has(method as MethodName)) {
        if ("incarnation" in params) pending.sessionLoss = error;
        continue;
      }
      this.#pending.delete(id);
      pending.handler.onError(error);
    }
  }

  /** Fails all pending requests and every later one. */
  fail(error: ExecwireError): void {
    this.#failure = error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { handler } of pending) handler.onError(error);
  }
}
