// Gives up a command that cannot be ended, because it has become another user (set-user-ID, sudo): we would wait as long as it
// likes to run. It is reported in one line, and keeps running.
import { limits } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import type { Process } from "../../process/process.ts";
import { shellExitCode } from "../../process/signal-number.ts";
import { EXIT } from "../exit-code.ts";
import { sayFailure } from "../report.ts";

/** When the command is ended by its timeout, and what to do then. */
export interface EndDeadlineOptions {
  readonly timeoutMs?: number | undefined;
  readonly graceMs?: number | undefined;
  readonly onGiveUp: () => void;
}

/** Watches the end of one process. */
export class EndDeadline {
  /** Our exit code, once the command was given up. */
  exitCode: number | undefined;
  readonly #child: Process;
  readonly #options: EndDeadlineOptions;
  #timer: NodeJS.Timeout | undefined;
  readonly #exit: { unsubscribe(): void };
  #isOver = false;

  constructor(child: Process, options: EndDeadlineOptions) {
    this.#child = child;
    this.#options = options;
    const over = () => this.release();
    this.#exit = child.exit$.subscribe({ next: over, error: over });
    const { timeoutMs, graceMs = limits.graceMs } = options;
    if (timeoutMs && !this.#isOver) this.#probeAfter(timeoutMs + graceMs + limits.closeDeadlineMs);
  }

  /** To be called when a signal that was to end the command failed; returns whether it was given up for that. */
  onFailedSignal(signal: NodeJS.Signals, error: unknown): boolean {
    if (!isNotPermitted(error) || this.#isOver) return false;
    this.#giveUp(shellExitCode({ exitCode: null, signal }) ?? EXIT.failure, error);
    return true;
  }

  release(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#exit?.unsubscribe();
  }

  #probeAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      const goOn = () => !this.#isOver && this.#probeAfter(limits.closeDeadlineMs);
      // It changes nothing for a process that was asked to end: it was continued then.
      this.#child.signal("SIGCONT").then(goOn, (error: unknown) => {
        if (!isNotPermitted(error)) goOn();
        else if (!this.#isOver) this.#giveUp(EXIT.timeout, error);
      });
    }, ms).unref();
  }

  #giveUp(exitCode: number, error: ExecwireError): void {
    this.exitCode = exitCode;
    this.release();
    sayFailure(error);
    this.#options.onGiveUp();
  }
}

function isNotPermitted(error: unknown): error is ExecwireError {
  return error instanceof ExecwireError && error.code === "SIGNAL_FAILED";
}
