// One process that is used by calls: each gets what is new since the one before. What a reader gets wrong: between calls nothing
// is read and nothing is kept but a position; the log retains what it retains, and the rest is counted as omitted.
//
// Invariants
// 1. One call reads at a time (`Turns`); the position moves only when its answer is made, so a call that gives up loses nothing.
// 2. Every byte is in one answer, or counted as omitted in one; half a character is in the answer after.
// 3. The log is followed from the start to the end, so that a process whose backend forgets it is still answered for.
import { present } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Cursor } from "../log/cursor.ts";
import type { Process } from "../process/process.ts";
import { Collecting } from "./collecting.ts";
import { OutputWindow, type Partials } from "./output-window.ts";
import type { ExecLimits } from "./session-limits.ts";
import type { ExecFacts, ExecResult, ExecSessionInfo } from "./session-types.ts";
import { Turns } from "./turns.ts";

/** How long a call waits, and how much it takes. Checked and clamped. */
export interface TakeOptions {
  readonly yieldMs: number;
  readonly quietMs: number | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /**
   * What the call does before it waits. Others that wait answer at once, so that its effect is in its own answer. It says what
   * became of its input; what was refused is not waited for.
   */
  readonly act?: (() => Promise<ExecResult["input"]>) | undefined;
}

type Output = Pick<ExecResult, "head" | "tail" | "omittedBytes" | "omittedAtLeast">;

/** A process with a position in its log. */
export class ExecSession {
  readonly id: number;
  readonly process: Process;
  readonly #limits: ExecLimits;
  readonly #clock: Clock;
  readonly #turns = new Turns();
  readonly #unfollow: () => void;
  /** Makes who reads now answer. */
  #hurry: AbortController | undefined;
  /** Up to where answers were made. */
  #cursor: Cursor;
  #partials: Partials = new Map();
  #exitWasTold = false;

  constructor(id: number, process: Process, limits: ExecLimits, clock: Clock = systemClock) {
    this.id = id;
    this.process = process;
    this.#limits = limits;
    this.#clock = clock;
    this.#cursor = new Cursor(process.log);
    this.#unfollow = process.log.onAppend(() => undefined);
  }

  /** Nothing more can be heard: everything was told, or contact is lost. */
  get isOver(): boolean {
    const { outputDrained, failure } = this.facts;
    return outputDrained || failure !== undefined;
  }

  /** The process is over, though perhaps not all of its output was told. */
  get hasEnded(): boolean {
    const { closed, failure } = this.process.log;
    return closed || failure !== undefined;
  }

  get facts(): ExecFacts {
    const { closed, exited, failure, headSeq } = this.process.log;
    const isLost = failure !== undefined && !closed;
    return present({
      processId: this.process.id,
      exited: exited !== undefined,
      exitCode: exited?.exitCode ?? null,
      signal: exited?.signal ?? null,
      reason: exited?.reason ?? null,
      sandboxDenied: exited?.sandboxDenied ?? false,
      outputClosed: closed,
      outputDrained: closed && this.#cursor.afterSeq >= headSeq,
      failure: isLost ? { code: failure.code, message: failure.message, data: failure.data } : undefined,
    });
  }

  get info(): ExecSessionInfo {
    const { info, log } = this.process;
    const { argv, cwd, tty, stdin, startedAt } = info;
    const { facts } = this;
    const state: ExecSessionInfo["state"] = facts.failure
      ? "failed"
      : facts.outputClosed
        ? "closed"
        : facts.exited
          ? "exited"
          : "running";
    const printed = log.offsetAfter(log.headSeq);
    const { offset } = this.#cursor;
    const unreadBytes = printed === undefined || offset === undefined ? undefined : printed - offset;
    return present({ sessionId: this.id, argv, cwd, tty, stdin, state, startedAt, ...facts, unreadBytes });
  }

  /** Waits as the options say, and answers with what is new. Rejects with the signal's reason, or with that of `act`. */
  async take(options: TakeOptions): Promise<ExecResult> {
    const { act, signal, yieldMs } = options;
    signal?.throwIfAborted();
    const began = this.#clock.now();
    const [deadline, hurry] = [new AbortController(), new AbortController()];
    const cancel = this.#clock.after(yieldMs, () => deadline.abort());
    const impatience = AbortSignal.any([deadline.signal, hurry.signal, ...(signal ? [signal] : [])]);
    // At once, whoever reads now: an interrupt must not wait behind a poll.
    const acting = act && this.#act(act);
    if (act) this.#hurry?.abort();
    const isIn = await this.#turns.enter(impatience, act !== undefined);
    if (isIn) this.#hurry = hurry;
    try {
      const input = acting && (await Promise.race([acting, pending(impatience)]));
      if (input !== undefined && input !== "accepted") deadline.abort();
      // Without a turn, somebody else has what there is: this one has waited, and has nothing to say but the facts.
      const output = isIn ? await this.#read(options, deadline.signal, hurry.signal) : NOTHING;
      signal?.throwIfAborted();
      const { facts } = this;
      this.#exitWasTold ||= facts.exited;
      const sessionId = this.isOver ? undefined : this.id;
      const tookMs = this.#clock.now() - began;
      return present({ sessionId, ...facts, ...output, input, tookMs });
    } finally {
      cancel();
      if (isIn) this.#turns.leave();
    }
  }

  /** Lets go of the log. */
  release(): void {
    this.#unfollow();
  }

  /** A lost link is a fact of the answer and not an error of the call. */
  #act(act: NonNullable<TakeOptions["act"]>): Promise<ExecResult["input"]> {
    const acting = act().catch((error: unknown) => {
      if (!this.process.log.failure) throw error;
      return undefined;
    });
    // Whoever waits for it hears of it; when it fails after the answer, nobody does.
    acting.catch(() => undefined);
    return acting;
  }

  async #read(options: TakeOptions, deadline: AbortSignal, hurry: AbortSignal): Promise<Output> {
    const { signal, maxBytes, quietMs } = options;
    const window = new OutputWindow(maxBytes, this.#partials);
    const { earlyExitMs, drainMs } = this.#limits;
    const cursor = this.#cursor.fork();
    await new Collecting({
      cursor,
      window,
      clock: this.#clock,
      deadline,
      hurry: signal ? AbortSignal.any([hurry, signal]) : hurry,
      quietMs,
      earlyExitMs,
      drainMs,
      exitWasTold: this.#exitWasTold,
    }).run();
    // Invariant 1.
    signal?.throwIfAborted();
    this.#cursor = cursor;
    const { closed, headSeq } = this.process.log;
    const { head, tail, omittedBytes, isExact, partials } = window.finish(closed && cursor.afterSeq >= headSeq);
    this.#partials = partials;
    return present({ head, tail, omittedBytes, omittedAtLeast: isExact ? undefined : (true as const) });
  }
}

const NOTHING: Output = { head: "", tail: "", omittedBytes: 0 };

/** What an input is that was not taken when the call had waited long enough: it is delivered when there is room. */
function pending(impatience: AbortSignal): Promise<"pending"> {
  return new Promise((resolve) => {
    if (impatience.aborted) return resolve("pending");
    impatience.addEventListener("abort", () => resolve("pending"), { once: true });
  });
}
