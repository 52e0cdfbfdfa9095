// Requests on their way: numbered, kept until their replies come, and sent again in order on a new connection.
import {
  checkResult,
  type MethodName,
  type Methods,
  type ReplyMessage,
  type RequestMessage,
} from "../../protocol/index.ts";
import { ExecwireError, fromWireError } from "../errors.ts";

/** What to do with an answer, in the turn in which it comes: what follows it on the wire may depend on it. */
export interface Answer<T> {
  onResult(result: T): void;
  onError(error: ExecwireError): void;
}

interface Pending {
  readonly message: RequestMessage;
  readonly answer: Answer<never>;
  readonly again: boolean;
}

/** Methods that change nothing: done again by any session, they answer the same. */
const LOOKS: ReadonlySet<MethodName> = new Set<MethodName>([
  "process/attach",
  "process/list",
  "process/subscribe",
  "process/unsubscribe",
  "process/read",
  "process/holders",
  "process/activity",
  "changes/watch",
]);

/** The calls of one client. */
export class Requests {
  readonly #send: (message: RequestMessage) => void;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #arrived: number[] = [];
  #failure: ExecwireError | undefined;

  /** `send` does nothing while there is no connection. */
  constructor(send: (message: RequestMessage) => void) {
    this.#send = send;
  }

  /** Ids whose replies are awaited. */
  get pending(): number[] {
    return [...this.#pending.keys()];
  }

  /** Whether nothing is awaited but looks. */
  get onlyLook(): boolean {
    return [...this.#pending.values()].every(({ message }) => LOOKS.has(message.method as MethodName));
  }

  /** Calls a method; rejects with what the server says, or with the reason why nobody will ever answer. */
  call<M extends MethodName>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return new Promise((resolve, reject) => this.request(method, params, { onResult: resolve, onError: reject }));
  }

  /** The same, answered in the very turn. With `again: false` it belongs to one connection: lost with it, and then never answered. */
  request<M extends MethodName>(
    method: M,
    params: Methods[M]["params"],
    answer: Answer<Methods[M]["result"]>,
    { again = true }: { readonly again?: boolean } = {},
  ): void {
    if (this.#failure) return answer.onError(this.#failure);
    this.#lastId += 1;
    const message: RequestMessage = {
      type: "request",
      id: this.#lastId,
      acked: this.#arrived,
      method,
      params: { ...params },
    };
    this.#arrived = [];
    this.#pending.set(message.id, { message, answer: answer as Answer<never>, again });
    try {
      this.#send(message);
    } catch (error) {
      this.#pending.delete(message.id);
      answer.onError(error as ExecwireError);
    }
  }

  /** A reply came; one that nobody waits for was answered twice. Returns the violation, if it is no answer to what was asked. */
  settle(reply: ReplyMessage): ExecwireError | undefined {
    const pending = this.#pending.get(reply.id);
    if (!pending) return undefined;
    this.#pending.delete(reply.id);
    this.#arrived.push(reply.id);
    const { answer, message } = pending;
    if ("error" in reply) {
      answer.onError(fromWireError(reply.error));
      return undefined;
    }
    const problem = checkResult(message.method, reply.result as Readonly<Record<string, unknown>>);
    if (!problem) {
      answer.onResult(reply.result as never);
      return undefined;
    }
    const text = `the server answered ${message.method} with what is no answer: ${problem.field} ${problem.message}`;
    const violation = new ExecwireError("PROTOCOL_VIOLATION", text);
    answer.onError(violation);
    return violation;
  }

  /** On a new connection: everything that was not answered, in the order of the calls. */
  sendAgain(): void {
    for (const [id, { message, answer, again }] of this.#pending) {
      if (!again) {
        this.#pending.delete(id);
        continue;
      }
      try {
        // The hello told the server what is pending, which acknowledges all else.
        this.#send({ ...message, acked: [] });
      } catch (error) {
        this.#pending.delete(id);
        answer.onError(error as ExecwireError);
      }
    }
  }

  /** Nobody will answer any more. */
  fail(error: ExecwireError): void {
    this.#failure = error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { answer } of pending) answer.onError(error);
  }
}
