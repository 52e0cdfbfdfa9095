// Calls on their way: numbered, kept until their answers come. On a new connection each is sent again, or not, as is right
// for it: a repeated write is known by its id, a repeated interrupt would interrupt twice.
import { connectionLost } from "../../client/reconnecting.ts";
import type { Cancel, Clock } from "../../clock.ts";
import type { ExecwireError } from "../../errors.ts";
import type { CodexError } from "../codex-error.ts";
import { errorOf } from "./refusals.ts";

/** What to do with an answer, in the turn in which it comes. */
export interface Answer {
  onResult(result: unknown): void;
  /** What the server refused, or why nobody will ever answer. */
  onError(error: CodexError | ExecwireError): void;
}

/**
 * What becomes of a call whose answer was lost with its connection: `repeat` sends it again; `fail` says so, for nobody knows
 * whether it took effect; `drop` forgets it, its owner asks anew; a function finds out first, and then sends it again or
 * says what the answer was.
 */
export type AfterLoss =
  | "repeat"
  | "fail"
  | "drop"
  | ((sendAgain: () => void, settle: (outcome: Outcome) => void) => void);

/** What a server answered. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** How to call. */
export interface CallOptions {
  readonly afterLoss: AfterLoss;
  /** It may wait at the server for a child that does not read, and everything behind it. */
  readonly mayBlock?: boolean;
}

/** What calls need of their connection. */
export interface CallsOptions {
  /** Does nothing while there is no connection. May throw. */
  readonly send: (method: string, params: unknown, id: number) => void;
  readonly isOpen: () => boolean;
  readonly clock: Clock;
  /** The connection is of no use: what is sent on it waits behind a call that may never be answered. */
  readonly onStuck: () => void;
  /** Whether answers are awaited has changed. */
  readonly onBusy: (busy: boolean) => void;
}

interface Call extends CallOptions {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
  readonly answer: Answer;
  wasSent: boolean;
}

/**
 * The exec-server handles the requests of a connection one after another, and a write to a child that does not read waits.
 * A command behind it waits this long; then the connection is left for a new one, on which the command goes first.
 */
const STUCK_MS = 1_000;

/** The calls of one client. */
export class CodexCalls {
  readonly #options: CallsOptions;
  readonly #pending = new Map<number, Call>();
  #lastId = 0;
  #stuckTimer: Cancel | undefined;
  #isSerial = true;
  /** The call that kept the last connection from answering. */
  #blocker: Call | undefined;
  #failure: ExecwireError | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Whether answers are awaited. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls a method; rejects with what the server says, or with the reason why nobody will ever answer. */
  call(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.request(method, params, { onResult: resolve, onError: reject }, options),
    );
  }

  /** The same, answered in the very turn. */
  request(method: string, params: unknown, answer: Answer, options: CallOptions): void {
    if (this.#failure) return answer.onError(this.#failure);
    this.#lastId += 1;
    const call: Call = { id: this.#lastId, method, params, answer, wasSent: false, ...options };
    this.#send(call);
    this.#changed();
  }

  /** An answer came. One that nobody waits for belongs to a call of an earlier connection. */
  settle(id: number, outcome: Outcome): void {
    const call = this.#pending.get(id);
    if (!call) return;
    // Only a server that handles one request after another can be stuck; another one answers past a write that waits.
    const [first] = this.#pending.values();
    this.#isSerial &&= first === call || !first?.mayBlock;
    this.#pending.delete(call.id);
    if ("error" in outcome) call.answer.onError(errorOf(outcome.error));
    else call.answer.onResult(outcome.result);
    this.#rearm();
    this.#changed();
  }

  /**
   * On a new connection: first what `begin` calls, then what was not answered, in the order of the calls, but what blocked the
   * last connection goes last.
   */
  resume(begin: () => void): void {
    const calls = [...this.#pending.values()];
    const blocker = this.#blocker;
    this.#blocker = undefined;
    begin();
    for (const call of calls) if (call !== blocker) this.#resume(call);
    if (blocker && calls.includes(blocker)) this.#resume(blocker);
    this.#changed();
  }

  /** Nobody will answer any more. */
  fail(error: ExecwireError): void {
    this.#failure = error;
    this.#stuckTimer?.();
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const { answer } of calls) answer.onError(error);
    this.#changed();
  }

  #resume(call: Call): void {
    const { wasSent, afterLoss, id, answer, method } = call;
    if (!wasSent || afterLoss === "repeat") return this.#send(call);
    if (typeof afterLoss === "function") {
      const sendAgain = () => {
        if (this.#pending.has(id)) this.#send(call);
      };
      return afterLoss(sendAgain, (outcome) => this.settle(id, outcome));
    }
    this.#pending.delete(id);
    if (afterLoss === "drop") return;
    const message = `the connection was lost before ${method} was answered; it may have taken effect, and is not repeated`;
    answer.onError(connectionLost("unconfirmed", message));
  }

  #send(call: Call): void {
    // The order of the map is that of the wire, which tells who waits behind whom.
    this.#pending.delete(call.id);
    this.#pending.set(call.id, call);
    call.wasSent ||= this.#options.isOpen();
    try {
      this.#options.send(call.method, call.params, call.id);
    } catch (error) {
      this.#pending.delete(call.id);
      call.answer.onError(error as ExecwireError);
    }
  }

  #changed(): void {
    this.#options.onBusy(this.isBusy);
    this.#stuckTimer ??= this.#isStuck() ? this.#options.clock.after(STUCK_MS, () => this.#onStuck()) : undefined;
  }

  /** An answer came: whoever is first now has its own time. */
  #rearm(): void {
    this.#stuckTimer?.();
    this.#stuckTimer = undefined;
  }

  #isStuck(): boolean {
    const [first, ...others] = this.#pending.values();
    return this.#isSerial && first?.mayBlock === true && others.some(({ mayBlock }) => !mayBlock);
  }

  #onStuck(): void {
    this.#stuckTimer = undefined;
    if (!this.#isStuck() || !this.#options.isOpen()) return;
    this.#blocker = [...this.#pending.values()][0];
    this.#options.onStuck();
  }
}
