// One process as this client knows it: what was asked for, what became of it, and its log. The dialect tells neither pid
// nor start time nor labels; what of these is known is known here.
//
//  starting --confirmed--> running --exited--> exited --closed--> closed --retention--> removed
//     +-- refused, cancelled --> removed
import type { ExitedEvent, ProcessInfo, ProcessState, Seq } from "../../../protocol/index.ts";
import type { Clock } from "../../clock.ts";
import type { ExecwireError } from "../../errors.ts";
import type { ReplayLog } from "../../log/replay-log.ts";
import { infoCost } from "../../process/process-info.ts";
import type { CodexError } from "../codex-error.ts";
import { answerOf, type RawEvent, type ReadReply, readResult, terminateResult } from "./answers.ts";
import type { CodexCalls } from "./calls.ts";
import { CodexFollower } from "./codex-follower.ts";
import { asOurs, refused } from "./refusals.ts";
import type { StartRequest } from "./start-params.ts";

/** What a client knows of a process before it runs. */
export type Identity = Pick<
  ProcessInfo,
  "processId" | "incarnation" | "argv" | "argvOmitted" | "cwd" | "tty" | "stdin" | "startedAt" | "labels"
>;

/** What a process needs of its client. */
export interface KnownProcessOptions {
  readonly identity: Identity;
  /** The request that starts it. */
  readonly params: StartRequest["params"];
  readonly calls: CodexCalls;
  readonly clock: Clock;
  readonly retainedBytes: number;
  readonly retainedEvents: number;
  readonly windowBytes: number;
  /** Whether nothing is read from the connection at the moment. */
  readonly isPaused: () => boolean;
  readonly onChange: (process: KnownProcess) => void;
  readonly onPressure: (process: KnownProcess, full: boolean) => void;
  readonly onTerminate: (process: KnownProcess) => void;
}

/** How a shell tells a death by SIGKILL, and what the exec-server tells of any death by signal on a tty. */
const KILLED = 137;
const KILLED_ON_TTY = 1;
/** What the server says of an exit whose status it does not know. */
const UNKNOWN_STATUS = -1;

/** A process of this client. */
export class KnownProcess {
  readonly follower: CodexFollower;
  /** The request that starts it. */
  readonly params: StartRequest["params"];
  /** Bytes of memory that it costs beside its log. */
  readonly cost: number;
  /** Resolves when it runs; rejects when it never will. */
  readonly started: Promise<void>;
  /** Resolves when nothing will be heard of it any more. */
  readonly over: Promise<void>;
  readonly #options: KnownProcessOptions;
  #settleStarted!: { resolve(): void; reject(error: ExecwireError): void };
  #settleOver!: () => void;
  #state: ProcessState = "starting";
  #sandboxType = "none";
  #isCancelled = false;
  /** Terminations that were not answered yet, and whether one was answered with "it was running". */
  #terminating = 0;
  #wasTerminated = false;

  constructor(options: KnownProcessOptions) {
    this.#options = options;
    this.params = options.params;
    const { retainedBytes, retainedEvents, windowBytes, clock } = options;
    this.started = new Promise((resolve, reject) => {
      this.#settleStarted = { resolve, reject };
    });
    this.over = new Promise((resolve) => {
      this.#settleOver = resolve;
    });
    // The error belongs to whoever started it.
    this.started.catch(() => undefined);
    this.follower = new CodexFollower({
      retainedBytes,
      retainedEvents,
      windowBytes,
      clock,
      ask: (afterSeq, onReply, onError) => this.#ask(afterSeq, onReply, onError),
      isPaused: options.isPaused,
      exitOf: (event) => this.#exitOf(event),
      onChange: () => this.#follow(),
      onPressure: (full) => options.onPressure(this, full),
    });
    this.cost = infoCost(this.info);
  }

  get log(): ReplayLog {
    return this.follower.log;
  }

  get id(): string {
    return this.#options.identity.processId;
  }

  get incarnation(): string {
    return this.#options.identity.incarnation;
  }

  get state(): ProcessState {
    return this.#state;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Whether nothing runs any more, as far as can ever be known. */
  get isOver(): boolean {
    return this.#state === "closed" || this.#state === "removed" || this.log.failure !== undefined;
  }

  get info(): ProcessInfo {
    const { exited } = this.log;
    return {
      ...this.#options.identity,
      state: this.#state,
      exitCode: exited?.exitCode ?? null,
      signal: exited?.signal ?? null,
      // This client asks for none; a server may put its children into one all the same, and then it is told.
      sandbox: this.#sandboxType,
    };
  }

  /** The server confirmed the start. */
  begin(sandboxType: string): void {
    if (this.#state !== "starting") return;
    this.#sandboxType = sandboxType;
    this.#become("running");
    this.#settleStarted.resolve();
    this.follower.begin();
  }

  /** It never ran, or nobody knows how it ended. */
  fail(error: ExecwireError): void {
    this.#settleStarted.reject(error);
    this.follower.fail(error);
    this.#settleOver();
  }

  /** Nobody finds it by its id any more. */
  remove(): void {
    if (this.#state !== "removed") this.#become("removed");
  }

  /** Kills its process group. Answers whether there was something to kill. */
  async terminate(): Promise<{ readonly running: boolean }> {
    if (this.#state === "starting") {
      this.#isCancelled = true;
      await this.kill();
      return { running: true };
    }
    if (this.#state !== "running") return { running: false };
    this.#terminating += 1;
    // What it printed last must not keep its end from being told.
    this.#options.onTerminate(this);
    try {
      const running = await this.kill();
      this.#wasTerminated ||= running;
      return { running };
    } finally {
      this.#terminating -= 1;
    }
  }

  /** Sends the kill itself, whatever is known. */
  async kill(): Promise<boolean> {
    const { calls } = this.#options;
    const answer = calls.call("process/terminate", { processId: this.id }, { afterLoss: "repeat" });
    return answerOf(terminateResult, await answer.catch(refused)).running;
  }

  #ask(afterSeq: Seq, onReply: (reply: ReadReply) => void, onError: (error: ExecwireError) => void): void {
    const params = { processId: this.id, afterSeq, maxBytes: null, waitMs: 0 };
    const answer = {
      onResult: (result: unknown) => onReply(answerOf(readResult, result)),
      onError: (error: CodexError | ExecwireError) => onError(asOurs(error)),
    };
    this.#options.calls.request("process/read", params, answer, { afterLoss: "drop" });
  }

  /** The dialect tells a death by signal as a number that a program may as well have chosen, so it is told as that. */
  #exitOf({ seq, exitCode, sandboxDenied }: RawEvent & { readonly type: "exited" }): ExitedEvent {
    const killed = this.#options.identity.tty ? KILLED_ON_TTY : KILLED;
    const wasTerminated = this.#wasTerminated || (this.#terminating > 0 && exitCode === killed);
    const isKnown = exitCode !== null && exitCode !== UNKNOWN_STATUS;
    const ownEnd = { result: exitCode === 0 ? "success" : "error", reason: isKnown ? "exited" : "lost" } as const;
    const end = wasTerminated ? ({ result: "terminated", reason: "terminate" } as const) : ownEnd;
    return { type: "exited", seq, exitCode: isKnown ? exitCode : null, signal: null, ...end, sandboxDenied };
  }

  #follow(): void {
    const { exited, closed } = this.log;
    if (exited && this.#state === "running") this.#become("exited");
    if (closed && this.#state === "exited") this.#become("closed");
    if (closed || this.log.failure) this.#settleOver();
  }

  #become(state: ProcessState): void {
    this.#state = state;
    this.#options.onChange(this);
  }
}
