// Pending calls: numbered, and kept until their replies arrive. On a new connection each is sent again only where that is safe:
// the server recognizes a repeated write by its id, but a repeated interrupt would interrupt twice.
import { connectionLost } from "../../client/reconnecting.ts";
import type { Cancel, Clock } from "../../clock.ts";
import type { ExecwireError } from "../../errors.ts";
import type { CodexError } from "../codex-error.ts";
import { errorOf } from "./refusals.ts";

/** Handlers of a reply, called in the turn in which it arrives. */
export interface Answer {
  onResult(result: unknown): void;
  /** Called with the server's refusal, or with the reason why no reply will ever come. */
  onError(error: CodexError | ExecwireError): void;
}

/**
 * What to do with a call whose reply was lost with its connection:
 * - `repeat` sends it again
 * - `fail` rejects it, because it is unknown whether it took effect
 * - `drop` forgets it; its owner will call again
 * - a function finds out first, and then either sends the call again or settles it
 */
export type AfterLoss =
  | "repeat"
  | "fail"
  | "drop"
  | ((sendAgain: () => void, settle: (outcome: Outcome) => void) => void);

/** The result or error of a call. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** How to call. */
export interface CallOptions {
  readonly afterLoss: AfterLoss;
  /** The server may hold it, and every call after it, until the child reads its stdin. */
  readonly mayBlock?: boolean;
}

/** What calls use of their connection. */
export interface CallsOptions {
  /** Does nothing while there is no connection. May throw. */
  readonly send: (method: string, params: unknown, id: number) => void;
  readonly isOpen: () => boolean;
  readonly clock: Clock;
  /** The connection is blocked: calls on it wait behind one that may never be answered. */
  readonly onStuck: () => void;
  /** Called with whether replies are awaited. */
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
 * The exec-server handles the requests of a connection one by one, and a write blocks while the child does not read. A command
 * waits this long behind such a write; then the client moves to a new connection, on which the command goes first.
 */
const BLOCKED_MS = 1_000;

/** The calls of one client. */
export class CodexCalls {
  readonly #options: CallsOptions;
  readonly #pending = new Map<number, Call>();
  #lastId = 0;
  #blockedTimer: Cancel | undefined;
  #isSerial = true;
  /** The call that blocked the previous connection. */
  #blocker: Call | undefined;
  #failure: ExecwireError | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Whether replies are awaited. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls a method. Rejects with the server's refusal, or with the reason why no reply will ever come. */
  call(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.request(method, params, { onResult: resolve, onError: reject }, options),
    );
  }

  /** The same, with handlers that are called in the turn in which the reply arrives. */
  request(method: string, params: unknown, answer: Answer, options: CallOptions): void {
    if (this.#failure) return answer.onError(this.#failure);
    this.#lastId += 1;
    const call: Call = { id: this.#lastId, method, params, answer, wasSent: false, ...options };
    this.#send(call);
    this.#onChange();
  }

  /** A reply arrived. One without a pending call belongs to an earlier connection. */
  settle(id: number, outcome: Outcome): void {
    const call = this.#pending.get(id);
    if (!call) return;
    // Only a server that handles requests one by one can be blocked; any other replies to later calls past a blocked write.
    const [first] = this.#pending.values();
    this.#isSerial &&= first === call || !first?.mayBlock;
    this.#pending.delete(call.id);
    if ("error" in outcome) call.answer.onError(errorOf(outcome.error));
    else call.answer.onResult(outcome.result);
    this.#rearm();
    this.#onChange();
  }

  /**
   * A new connection is open. Sends the calls that `begin` makes, then the unanswered ones in their order, and last the call
   * that blocked the previous connection.
   */
  resume(begin: () => void): void {
    const calls = [...this.#pending.values()];
    const blocker = this.#blocker;
    this.#blocker = undefined;
    begin();
    for (const call of calls) if (call !== blocker) this.#resume(call);
    if (blocker && calls.includes(blocker)) this.#resume(blocker);
    this.#onChange();
  }

  /** No reply will ever come: rejects all calls, now and later. */
  fail(error: ExecwireError): void {
    this.#failure = error;
    this.#blockedTimer?.();
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const { answer } of calls) answer.onError(error);
    this.#onChange();
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
    const message = `the connection was lost before ${method} was answered; it may have taken effect and was not repeated`;
    answer.onError(connectionLost("unconfirmed", message));
  }

  #send(call: Call): void {
    // The map keeps the order of the wire, which shows which call waits behind which.
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

  #onChange(): void {
    this.#options.onBusy(this.isBusy);
    this.#blockedTimer ??= this.#isBlocked()
      ? this.#options.clock.after(BLOCKED_MS, () => this.#leaveBlockedConnection())
      : undefined;
  }

  /** A reply arrived: the call that is now first gets the full time. */
  #rearm(): void {
    this.#blockedTimer?.();
    this.#blockedTimer = undefined;
  }

  #isBlocked(): boolean {
    const [first, ...others] = this.#pending.values();
    return this.#isSerial && first?.mayBlock === true && others.some(({ mayBlock }) => !mayBlock);
  }

  #leaveBlockedConnection(): void {
    this.#blockedTimer = undefined;
    if (!this.#isBlocked() || !this.#options.isOpen()) return;
    this.#blocker = [...this.#pending.values()][0];
    this.#options.onStuck();
  }
}
