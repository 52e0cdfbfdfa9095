// The requests of one connection and their replies. Each begins in the order of its arrival; only file operations wait for
// those before them, as clients of the exec-server may rely on.
import { Mutex } from "../../mutex.ts";
import { CODE, CodexError, toCodexError } from "../codex-error.ts";
import { encodeError, encodeResult, type Id } from "../envelope.ts";
import { Announcement, type Family, type Methods, RawResult } from "./method.ts";

/** What replies need of their connection. */
export interface RequestScope {
  /** Throws when the handshake is not over yet. */
  checkReady(family: Family): void;
  send(frame: Uint8Array): void;
  readonly drained: () => Promise<void>;
  readonly signal: AbortSignal;
  /** What should begin after a reply failed: the client waits for what will not come. */
  broken(): void;
}

/** Performs requests and answers them. */
export class Requests {
  readonly #methods: Methods;
  readonly #scope: RequestScope;
  readonly #max: number;
  #running = 0;
  readonly #files = new Mutex();

  constructor(methods: Methods, scope: RequestScope, max: number) {
    this.#methods = methods;
    this.#scope = scope;
    this.#max = max;
  }

  /** Resolves when the file operations that were asked for so far are over. */
  get filesSettled(): Promise<unknown> {
    return this.#files.settled;
  }

  request(id: Id, name: string, params: unknown): void {
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    this.answer(id, async () => {
      if (!method) throw new CodexError(CODE.unknownMethod, `exec-server stub does not implement \`${name}\` yet`);
      const call = method.prepare(params);
      this.#scope.checkReady(method.family);
      if (this.#running > this.#max) {
        throw new CodexError(CODE.refused, `more than ${this.#max} requests of this connection are running`);
      }
      return method.family === "filesystem" ? this.#inOrder(call) : call();
    });
  }

  /** Performs, and answers with the result or the refusal. */
  answer(id: Id, perform: () => Promise<unknown>): void {
    this.#running += 1;
    void perform()
      .then((result) => {
        const announced = result instanceof Announcement ? result : undefined;
        // Encoded before anything is sent: what no message can hold is refused.
        const frame = resultFrame(id, announced ? announced.result : result);
        this.#scope.send(frame);
        return announced;
      })
      .catch((error) => {
        this.#scope.send(encodeError(id, toCodexError(error)));
        return undefined;
      })
      .then((announced) => announced?.begin())
      .catch(() => this.#scope.broken())
      .finally(() => {
        this.#running -= 1;
      });
  }

  #inOrder(call: () => Promise<unknown>): Promise<unknown> {
    return this.#files.run(async () => {
      // A large reply must have left before the next one is made.
      await this.#scope.drained();
      this.#scope.signal.throwIfAborted();
      return call();
    });
  }
}

function resultFrame(id: Id, result: unknown): Buffer {
  return encodeResult(id, result instanceof RawResult ? result.parts : JSON.stringify(result ?? {}));
}
