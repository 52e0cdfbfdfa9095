// Streams of a process that was to be ended with its whole tree, when nothing of the tree is left: only unrelated processes have
// them open, such as a server that was passed the terminal. Those are not waited for for ever.
import type { Cancel, Clock } from "../clock.ts";

/** Decides when such streams are given up. */
export class HeldStreams {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #giveUp: () => void;
  #isWaiting = false;
  #isClosing = false;
  #isPaused = false;
  #timer: Cancel | undefined;

  /** `giveUp` is called `afterMs` after `wait`. */
  constructor(clock: Clock, afterMs: number, giveUp: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#giveUp = giveUp;
  }

  /** Whether a supervisor that closes waits for them. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** The supervisor closes: from now on it does not matter whether all was read. */
  close(): void {
    this.#isClosing = true;
  }

  /** What the process has printed is read at the pace of a lossless reader, and is not given up while that pauses it. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#isWaiting) this.wait();
  }

  /** Nothing of the tree is left. */
  wait(): void {
    this.cancel();
    this.#isWaiting = true;
    if (this.#isClosing || !this.#isPaused) this.#timer = this.#clock.after(this.#afterMs, this.#giveUp);
  }

  /** They have ended. */
  cancel(): void {
    this.#isWaiting = false;
    this.#timer?.();
    this.#timer = undefined;
  }
}
