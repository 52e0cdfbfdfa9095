// A process that is used by separate calls, each of which returns the output since the previous one. Note that nothing is read or
// kept between calls but a position: output that the log evicts meanwhile is counted as omitted.
//
// Invariants
// 1. One call reads at a time (`#mutex`). The position moves only when its answer is made, so an aborted call loses no output.
// 2. Every byte is in exactly one answer, or counted as omitted in one. An incomplete character moves to the next answer.
// 3. The log is followed from start to end, so that a session still answers after the backend has removed its process.

import { present } from "../../../protocol/index.ts";
import { onAbort } from "../../abort.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { Cursor } from "../../log/cursor.ts";
import type { Process } from "../../process/process.ts";
import { OutputCollector } from "./output-collector.ts";
import { OutputWindow, type Partials } from "./output-window.ts";
import { PriorityMutex } from "./priority-mutex.ts";
import type { ExecLimits } from "./session-limits.ts";
import type { ExecFacts, ExecResult, ExecSessionInfo } from "./session-types.ts";

/** How long a call waits, and how much output it returns. Checked and clamped. */
export interface TakeOptions {
  readonly yieldMs: number;
  readonly quietMs: number | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /**
   * The action of the call before it waits; resolves with the state of its input. Other waiting calls answer at once, so that the
   * effect of the action is in its own answer. If the input is refused, the call does not wait.
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
  readonly #mutex = new PriorityMutex();
  readonly #unfollow: () => void;
  /** Aborting it makes the call that reads now answer. */
  #hurry: AbortController | undefined;
  /** The position up to which output was returned. */
  #cursor: Cursor;
  #partials: Partials = new Map();
  #exitWasReported = false;

  constructor(id: number, process: Process, limits: ExecLimits, clock: Clock = systemClock) {
    this.id = id;
    this.process = process;
    this.#limits = limits;
    this.#clock = clock;
    this.#cursor = new Cursor(process.log);
    this.#unfollow = process.log.onAppend(() => undefined);
  }

  /** Nothing is left to return: all output was returned, or contact is lost. */
  get isOver(): boolean {
    const { outputDrained, failure } = this.facts;
    return outputDrained || failure !== undefined;
  }

  /** The process is closed or lost, though its output may not all have been returned. */
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
      networkDenied: exited?.networkDenied || undefined,
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

  /** Waits as the options say, and answers with the new output. Rejects with the signal's reason, or with the error of `act`. */
  async take(options: TakeOptions): Promise<ExecResult> {
    const { act, signal, yieldMs } = options;
    signal?.throwIfAborted();
    const startedAt = this.#clock.now();
    const [deadline, hurry] = [new AbortController(), new AbortController()];
    const cancel = this.#clock.after(yieldMs, () => deadline.abort());
    const stopWaiting = AbortSignal.any([deadline.signal, hurry.signal, ...(signal ? [signal] : [])]);
    // Without waiting for the mutex: an interrupt must not queue behind a poll.
    const acting = act && this.#act(act);
    if (act) this.#hurry?.abort();
    const isLocked = await this.#mutex.acquire(stopWaiting, act !== undefined);
    if (isLocked) this.#hurry = hurry;
    try {
      const input = acting && (await Promise.race([acting, pending(stopWaiting)]));
      if (input !== undefined && input !== "accepted") deadline.abort();
      // Without the mutex, another call returns the output: answer with the facts only.
      const output = isLocked ? await this.#read(options, deadline.signal, hurry.signal) : NOTHING;
      signal?.throwIfAborted();
      const { facts } = this;
      this.#exitWasReported ||= facts.exited;
      const sessionId = this.isOver ? undefined : this.id;
      const tookMs = this.#clock.now() - startedAt;
      return present({ sessionId, ...facts, ...output, input, tookMs });
    } finally {
      cancel();
      if (isLocked) this.#mutex.release();
    }
  }

  /** Stops following the log. */
  release(): void {
    this.#unfollow();
  }

  /** If contact with the process is lost, the answer reports it: the call itself does not fail. */
  #act(act: NonNullable<TakeOptions["act"]>): Promise<ExecResult["input"]> {
    const acting = act().catch((error: unknown) => {
      if (!this.process.log.failure) throw error;
      return undefined;
    });
    // A failure before the answer rejects the call. After the answer it must not be an unhandled rejection.
    acting.catch(() => undefined);
    return acting;
  }

  async #read(options: TakeOptions, deadline: AbortSignal, hurry: AbortSignal): Promise<Output> {
    const { signal, maxBytes, quietMs } = options;
    const window = new OutputWindow(maxBytes, this.#partials);
    const { earlyExitMs, drainMs } = this.#limits;
    const cursor = this.#cursor.fork();
    await new OutputCollector({
      cursor,
      window,
      clock: this.#clock,
      deadline,
      hurry: signal ? AbortSignal.any([hurry, signal]) : hurry,
      quietMs,
      earlyExitMs,
      drainMs,
      exitWasReported: this.#exitWasReported,
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

/** Resolves when the call stops waiting for its input to be accepted. The input is still delivered when there is room. */
function pending(stopWaiting: AbortSignal): Promise<"pending"> {
  return new Promise((resolve) => {
    if (stopWaiting.aborted) return resolve("pending");
    onAbort(stopWaiting, () => resolve("pending"));
  });
}
