// Merges tiny chunks before they get a seq. The first chunk after a pause passes at once, so an echo is never delayed; chunks
// that follow within the window are held and merged into one. While no reader follows the log, the window is wider, so that a
// client that reconnects finds few large events.
import type { StreamName } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";

/** Merge windows and sizes. */
export interface MergeOptions {
  readonly mergeWindowMs: number;
  readonly unfollowedMergeWindowMs: number;
  readonly mergeBelowBytes: number;
  readonly chunkBytes: number;
}

/** Forwards output to the log, with small chunks merged. */
export class OutputMerger {
  readonly #log: { readonly isFollowed: boolean; appendOutput(stream: StreamName, chunk: Uint8Array): void };
  readonly #onWindowOver: () => void;
  readonly #clock: Clock;
  readonly #options: MergeOptions;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #stream: StreamName = "stdout";
  #window: Cancel | undefined;

  /** `onWindowOver` must cause a call of `windowOver` in a later turn. */
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
      if (stream !== this.#stream || this.#pendingBytes + chunk.length > chunkBytes) this.flush();
      this.#stream = stream;
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      return;
    }
    this.flush();
    this.#log.appendOutput(stream, chunk);
    if (small && !this.#window) this.#openWindow();
  }

  /** Appends the pending chunks. Called before anything else is appended, to keep the order. */
  flush(): void {
    const [first] = this.#pending;
    if (first === undefined) return;
    const merged = this.#pending.length === 1 ? first : Buffer.concat(this.#pending, this.#pendingBytes);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#log.appendOutput(this.#stream, merged);
  }

  /** Ends the window, and opens a new one if output arrived during it. */
  windowOver(): void {
    const busy = this.#pending.length > 0;
    this.endWindow();
    if (busy) this.#openWindow();
  }

  /**
   * Ends the window, so that the next chunk passes at once. Called at the end, and when stdin was written, since an echo must
   * not wait.
   */
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
