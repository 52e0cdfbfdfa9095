// Holds an exec-server back for lossless readers. The dialect has no flow control of its own, but the server stops
// reading from a child when its socket is not read; since there is one socket, this stops every process of the client.
import type { Cancel, Clock } from "../../clock.ts";

/** What a brake needs. */
export interface BrakeOptions<Key> {
  /** What a reader may be behind. */
  readonly windowBytes: number;
  /** A reader that does not move for this long is taken for gone. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly setPaused: (paused: boolean) => void;
  /** The lease is over. */
  readonly onLapse: (key: Key) => void;
}

/** Decides whether to read on. `Key` stands for a process. */
export class Brake<Key extends object> {
  readonly #options: BrakeOptions<Key>;
  /** Processes whose reader is behind, with the timer of its lease. */
  readonly #behind = new Map<Key, Cancel>();
  /** Processes for whose readers nothing waits any more. */
  readonly #released = new WeakSet<Key>();
  /** Answers are awaited: they come on the same socket, and whoever reads may wait for one. */
  #isBusy = false;
  #isOff = false;

  constructor(options: BrakeOptions<Key>) {
    this.#options = options;
  }

  /** The reader of a process is behind by so much, or still is. */
  report(key: Key, bytes: number): void {
    this.#behind.get(key)?.();
    this.#behind.delete(key);
    if (bytes <= this.#options.windowBytes) this.#released.delete(key);
    else if (!this.#released.has(key)) {
      const { clock, leaseMs, onLapse } = this.#options;
      const lapse = () => {
        onLapse(key);
        this.release(key);
      };
      this.#behind.set(key, clock.after(leaseMs, lapse, { background: true }));
    }
    this.update();
  }

  /** Waits for the reader of this process no longer, until it has caught up. */
  release(key: Key): void {
    this.#behind.get(key)?.();
    this.#behind.delete(key);
    this.#released.add(key);
    this.update();
  }

  set isBusy(busy: boolean) {
    this.#isBusy = busy;
    this.update();
  }

  /** Waits for nobody any more. */
  off(): void {
    this.#isOff = true;
    for (const cancel of this.#behind.values()) cancel();
    this.update();
  }

  /** Sets the connection, also a new one, as it must be. */
  update(): void {
    this.#options.setPaused(!this.#isBusy && !this.#isOff && this.#behind.size > 0);
  }
}
