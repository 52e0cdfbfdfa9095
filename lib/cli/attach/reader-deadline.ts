// How long we wait for the reader of our output after the command's end: as long as it takes, so that nothing is lost. But once a
// timeout or a signal has asked for the end, a reader that stands still for the grace time is given up. A signal that comes after
// the command's end gives it up at once.
import { limits } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { shellExitCode } from "../../process/signal-number.ts";
import { EXIT, exitCodeOf, exitCodeOfError } from "../exit-code.ts";
import { isHeeded } from "../ignored-signals.ts";
import { say } from "../report.ts";

const ENDING_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

/** What may end the wait. */
export interface ReaderDeadlineOptions {
  /** When the command is ended by its timeout. */
  readonly timeoutMs?: number | undefined;
  readonly graceMs?: number | undefined;
  /** The signals that are forwarded to the command; others are not handled. */
  readonly signals: readonly string[];
  readonly onGiveUp: () => void;
}

/** Watches one process and our writes. */
export class ReaderDeadline {
  /** Our exit code, once the reader was given up. */
  exitCode: number | undefined;
  readonly #options: ReaderDeadlineOptions;
  readonly #signals: readonly (typeof ENDING_SIGNALS)[number][];
  readonly #timeout: NodeJS.Timeout | undefined;
  readonly #exit: { unsubscribe(): void };
  /** Our exit code for the command's end, or for a connection that is lost for good; undefined before. */
  #endCode: number | undefined;
  #hasTimedOut = false;
  #stall: NodeJS.Timeout | undefined;
  #isStalled = false;

  constructor(child: Process, options: ReaderDeadlineOptions) {
    this.#options = options;
    this.#signals = ENDING_SIGNALS.filter((signal) => options.signals.includes(signal) && isHeeded(signal));
    for (const signal of this.#signals) process.on(signal, this.#onSignal);
    const onTimeout = () => {
      if (this.#endCode !== undefined && this.#endCode !== EXIT.timeout) return;
      this.#hasTimedOut = true;
      this.#onEndRequested();
    };
    if (options.timeoutMs) this.#timeout = setTimeout(onTimeout, options.timeoutMs).unref();
    this.#exit = child.exit$.subscribe({
      next: (exit) => this.#onEnd(exitCodeOf(exit)),
      error: (error) => this.#onEnd(exitCodeOfError(error)),
    });
  }

  /** The exit code when the reader has left: the command's, unless its end is not known, or hides that output is missing. */
  get exitCodeWithoutReader(): number {
    return this.#hasTimedOut ? EXIT.timeout : this.#endCode || EXIT.brokenPipe;
  }

  /** To be called before and after each write. */
  readonly progress = (): void => {
    this.#isStalled = false;
    this.#stall?.refresh();
  };

  release(): void {
    for (const signal of this.#signals) process.off(signal, this.#onSignal);
    clearTimeout(this.#timeout);
    clearTimeout(this.#stall);
    this.#exit.unsubscribe();
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (this.#endCode === undefined) this.#onEndRequested();
    else this.#giveUp(this.#endCode === EXIT.timeout ? EXIT.timeout : exitCodeOfSignal(signal));
  };

  #onEndRequested(): void {
    const onStall = () => {
      this.#isStalled = true;
      this.#check();
    };
    this.#stall ??= setTimeout(onStall, this.#options.graceMs ?? limits.graceMs);
  }

  #onEnd(code: number): void {
    this.#endCode = code;
    this.#check();
  }

  #check(): void {
    if (!this.#isStalled || this.#endCode === undefined) return;
    const { stdout, stderr } = process;
    // There is nothing to take yet.
    if (stdout.writableLength + stderr.writableLength === 0) this.progress();
    else this.#giveUp(this.#endCode);
  }

  #giveUp(exitCode: number): void {
    if (this.exitCode !== undefined) return;
    this.exitCode = exitCode;
    say("output was lost: its reader does not take it");
    this.#options.onGiveUp();
  }
}

function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return shellExitCode({ exitCode: null, signal }) ?? EXIT.failure;
}
