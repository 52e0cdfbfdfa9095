// Open streams of a process whose whole tree was terminated and is gone: only unrelated processes hold them, such as a server
// that was passed the terminal. They are not waited for indefinitely.
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

  /** `giveUp` is called `afterMs` milliseconds after `wait`. */
  constructor(clock: Clock, afterMs: number, giveUp: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#giveUp = giveUp;
  }

  /** Whether the supervisor is closing and waits for them. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** The supervisor is closing: from now on, unread output does not delay giving up. */
  close(): void {
    this.#isClosing = true;
  }

  /**
   * Reading is paused or resumed by a lossless reader. While it is paused, the streams are not given up, since output may still
   * be unread.
   */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#isWaiting) this.wait();
  }

  /** No process of the tree is left: gives up `afterMs` from now, unless reading is paused. */
  wait(): void {
    this.cancel();
    this.#isWaiting = true;
    if (this.#isClosing || !this.#isPaused) this.#timer = this.#clock.after(this.#afterMs, this.#giveUp);
  }

  /** The streams have ended. */
  cancel(): void {
    this.#isWaiting = false;
    this.#timer?.();
    this.#timer = undefined;
  }
}
