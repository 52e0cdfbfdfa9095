// The requests of one connection and their replies. Requests begin in order of arrival; only file operations also wait for
// earlier ones, which clients of the exec-server rely on.
import { Mutex } from "../../mutex.ts";
import { CODE, CodexError, toCodexError } from "../codex-error.ts";
import { encodeError, encodeResult, type Id } from "../envelope.ts";
import { type MethodGroup, type MethodScope, type MethodTable, RawResult, ReplyThen } from "./method.ts";

/** What requests need of their connection. */
export interface RequestScope extends Pick<MethodScope, "drained" | "signal"> {
  /** Throws while the handshake is not over. */
  checkReady(group: MethodGroup): void;
  send(frame: Uint8Array): void;
  /** Called when the action that should follow a reply has failed: the client would wait for its events forever. */
  broken(): void;
}

/** Performs requests and sends the replies. */
export class RequestRunner {
  readonly #methods: MethodTable;
  readonly #scope: RequestScope;
  readonly #max: number;
  #running = 0;
  readonly #files = new Mutex();

  constructor(methods: MethodTable, scope: RequestScope, max: number) {
    this.#methods = methods;
    this.#scope = scope;
    this.#max = max;
  }

  /** Resolves when all file operations requested so far are over. */
  get filesSettled(): Promise<unknown> {
    return this.#files.settled;
  }

  request(id: Id, name: string, params: unknown): void {
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    this.answer(id, async () => {
      if (!method) throw new CodexError(CODE.unknownMethod, `exec-server stub does not implement \`${name}\` yet`);
      const call = method.prepare(params);
      this.#scope.checkReady(method.group);
      if (this.#running > this.#max) {
        throw new CodexError(CODE.refused, `more than ${this.#max} requests of this connection are running`);
      }
      return method.group === "filesystem" ? this.#inOrder(call) : call();
    });
  }

  /** Performs a request and replies with the result or the error. */
  answer(id: Id, perform: () => Promise<unknown>): void {
    this.#running += 1;
    void perform()
      .then((result) => {
        const followUp = result instanceof ReplyThen ? result : undefined;
        // Encoded before anything is sent, so that a result too large for one message becomes an error.
        const frame = resultFrame(id, followUp ? followUp.result : result);
        this.#scope.send(frame);
        return followUp;
      })
      .catch((error) => {
        this.#scope.send(encodeError(id, toCodexError(error)));
        return undefined;
      })
      .then((followUp) => followUp?.begin())
      .catch(() => this.#scope.broken())
      .finally(() => {
        this.#running -= 1;
      });
  }

  #inOrder(call: () => Promise<unknown>): Promise<unknown> {
    return this.#files.run(async () => {
      // A large reply must be sent before the next one is made.
      await this.#scope.drained();
      this.#scope.signal.throwIfAborted();
      return call();
    });
  }
}

function resultFrame(id: Id, result: unknown): Buffer {
  return encodeResult(id, result instanceof RawResult ? result.parts : JSON.stringify(result ?? {}));
}
