// Merges tiny chunks before they get a seq. The first chunk after a pause passes at once, so an echo is never delayed;
// those that follow within the window are held and become one. While nobody follows the log the window is wider, so that
// what a client finds when it comes back are few large events.
import type { StreamName } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";

/** How long and up to which size to merge. */
export interface MergeOptions {
  readonly mergeWindowMs: number;
  readonly unfollowedMergeWindowMs: number;
  readonly mergeBelowBytes: number;
  readonly chunkBytes: number;
}

/** Passes output on, with small followers merged. */
export class OutputMerger {
  readonly #log: { readonly isFollowed: boolean; appendOutput(stream: StreamName, chunk: Uint8Array): void };
  readonly #onWindowOver: () => void;
  readonly #clock: Clock;
  readonly #options: MergeOptions;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #stream: StreamName = "stdout";
  #window: Cancel | undefined;

  /** `onWindowOver` must lead to a call of `windowOver`, in a turn of its own. */
  constructor(
    log: { readonly isFollowed: boolean; appendOutput(stream: StreamName, chunk: Uint8Array): void },
    onWindowOver: () => void,
    clock: Clock,
    options: MergeOptions,
  ) {
    this.#log = log;
    this.#onWindowOver = onWindowOver;
    this.#clock = clock;
    this.#options = options;
  }

  add(stream: StreamName, chunk: Uint8Array): void {
    const { mergeBelowBytes, chunkBytes } = this.#options;
    const small = chunk.length < (this.#log.isFollowed ? mergeBelowBytes : chunkBytes);
    if (this.#window && small) {
      if (stream !== this.#stream || this.#heldBytes + chunk.length > chunkBytes) this.flush();
      this.#stream = stream;
      this.#held.push(chunk);
      this.#heldBytes += chunk.length;
      return;
    }
    this.flush();
    this.#log.appendOutput(stream, chunk);
    if (small && !this.#window) this.#openWindow();
  }

  /** Passes on what is held; called before anything else is appended, so that the order stays. */
  flush(): void {
    const [first] = this.#held;
    if (first === undefined) return;
    const merged = this.#held.length === 1 ? first : Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    this.#log.appendOutput(this.#stream, merged);
  }

  /** Opens a new window as long as output keeps coming. */
  windowOver(): void {
    const busy = this.#held.length > 0;
    this.endWindow();
    if (busy) this.#openWindow();
  }

  /** Ends the window: what comes next passes at once. For the end, and when input was given, since an echo must not wait. */
  endWindow(): void {
    this.flush();
    this.#window?.();
    this.#window = undefined;
  }

  #openWindow(): void {
    const { mergeWindowMs, unfollowedMergeWindowMs } = this.#options;
    const window = this.#log.isFollowed ? mergeWindowMs : unfollowedMergeWindowMs;
    this.#window = this.#clock.after(window, this.#onWindowOver);
  }
}
