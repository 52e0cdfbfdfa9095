// One process of this client: its start request, its state and its log. The server reports no pid, start time or labels; this
// client remembers the last two.
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

/** What the client knows of a process before it runs. */
export type Identity = Pick<
  ProcessInfo,
  "processId" | "incarnation" | "argv" | "argvOmitted" | "cwd" | "tty" | "stdin" | "startedAt" | "labels"
>;

/** What a process gets from its client. */
export interface CodexProcessOptions {
  readonly identity: Identity;
  /** Params of the request that starts it. */
  readonly params: StartRequest["params"];
  readonly calls: CodexCalls;
  readonly clock: Clock;
  readonly retainedBytes: number;
  readonly retainedEvents: number;
  readonly windowBytes: number;
  /** Whether reading from the connection is paused. */
  readonly isPaused: () => boolean;
  readonly onChange: (process: CodexProcess) => void;
  readonly onPressure: (process: CodexProcess, full: boolean) => void;
  readonly onTerminate: (process: CodexProcess) => void;
}

/** Exit codes for a death by SIGKILL, as a shell reports it, and for any death by signal on a tty, as the exec-server does. */
const KILLED = 137;
const KILLED_ON_TTY = 1;
/** The exit code that the server sends if it does not know the status. */
const UNKNOWN_STATUS = -1;

/** A process of this client. */
export class CodexProcess {
  readonly follower: CodexFollower;
  /** Params of the request that starts it. */
  readonly params: StartRequest["params"];
  /** Bytes of memory that it uses in addition to its log. */
  readonly cost: number;
  /** Resolves when the process runs; rejects if the start failed. */
  readonly started: Promise<void>;
  /** Resolves when no more events can come. */
  readonly over: Promise<void>;
  readonly #options: CodexProcessOptions;
  #settleStarted!: { resolve(): void; reject(error: ExecwireError): void };
  #settleOver!: () => void;
  #state: ProcessState = "starting";
  #sandboxType = "none";
  #isCancelled = false;
  /** Pending `process/terminate` requests, and whether the reply to one was that the process was running. */
  #terminating = 0;
  #wasTerminated = false;

  constructor(options: CodexProcessOptions) {
    this.#options = options;
    this.params = options.params;
    const { retainedBytes, retainedEvents, windowBytes, clock } = options;
    this.started = new Promise((resolve, reject) => {
      this.#settleStarted = { resolve, reject };
    });
    this.over = new Promise((resolve) => {
      this.#settleOver = resolve;
    });
    // The caller of start reports the error.
    this.started.catch(() => undefined);
    this.follower = new CodexFollower({
      retainedBytes,
      retainedEvents,
      windowBytes,
      clock,
      read: (afterSeq, onReply, onError) => this.#read(afterSeq, onReply, onError),
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

  /** Whether no more events can come: it is closed or removed, or its log has failed. */
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
      // This client requests no sandbox, but a server may use one all the same, and reports it.
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

  /** The start failed, or no more can be known of the process. */
  fail(error: ExecwireError): void {
    this.#settleStarted.reject(error);
    this.follower.fail(error);
    this.#settleOver();
  }

  /** The process table has removed it. */
  remove(): void {
    if (this.#state !== "removed") this.#become("removed");
  }

  /** Kills its process group. Returns whether the process was running. */
  async terminate(): Promise<{ readonly running: boolean }> {
    if (this.#state === "starting") {
      this.#isCancelled = true;
      await this.kill();
      return { running: true };
    }
    if (this.#state !== "running") return { running: false };
    this.#terminating += 1;
    // Unread output must not block the notification of its end.
    this.#options.onTerminate(this);
    try {
      const running = await this.kill();
      this.#wasTerminated ||= running;
      return { running };
    } finally {
      this.#terminating -= 1;
    }
  }

  /** Sends the kill, in any state. Returns whether the process was running. */
  async kill(): Promise<boolean> {
    const { calls } = this.#options;
    const answer = calls.call("process/terminate", { processId: this.id }, { afterLoss: "repeat" });
    return answerOf(terminateResult, await answer.catch(refused)).running;
  }

  #read(afterSeq: Seq, onReply: (reply: ReadReply) => void, onError: (error: ExecwireError) => void): void {
    const params = { processId: this.id, afterSeq, maxBytes: null, waitMs: 0 };
    const answer = {
      onResult: (result: unknown) => onReply(answerOf(readResult, result)),
      onError: (error: CodexError | ExecwireError) => onError(asOurs(error)),
    };
    this.#options.calls.request("process/read", params, answer, { afterLoss: "drop" });
  }

  /** The server reports a death by signal as an exit code that a program can return as well, so it stays an exit code here. */
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
