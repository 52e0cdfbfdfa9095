// Keeps the output of a process for the loop of its starter, which may begin later: from the start on, the child waits rather than
// that output is lost.
//
// It ends with the first use of the handle that reads or waits in another way, when the handle is collected, when the log ends,
// and after a time: a process whose starter never reads must not wait for good.
import type { Cancel, Clock } from "../clock.ts";
import type { LogView } from "../log/log-view.ts";

const abandoned = new FinalizationRegistry<() => void>((release) => release());

/** The hold of one handle. */
export class UnreadHold {
  readonly #cancel: Cancel;
  readonly #release: () => void;

  constructor(handle: object, log: LogView, clock: Clock, unreadMs: number) {
    const hold = log.hold(() => (log.closed || log.failure ? log.headSeq : 0));
    this.#release = () => hold.release();
    this.#cancel = clock.after(unreadMs, this.#release, { background: true });
    abandoned.register(handle, this.#release, this);
  }

  /** The handle is about to be read in another way. Not at once: a log that has no reader for a moment may lose its source. */
  release(): void {
    this.#cancel();
    abandoned.unregister(this);
    queueMicrotask(this.#release);
  }
}
