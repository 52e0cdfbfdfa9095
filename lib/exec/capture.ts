// Takes what a command prints as it comes: into what is kept, and to whoever watches.
import { Subject } from "rxjs";
import type { ClosedEvent, Delivery, StreamName } from "../../protocol/index.ts";
import { type Excerpt, HeadTail } from "./head-tail.ts";
import { runDefaults } from "./options.ts";

/** The streams of a result. A terminal has only one, and `merge` too: it is stdout. */
export type RunStream = "stdout" | "stderr";

/** Bytes just printed. They belong to the log: copy them before transferring. */
export interface RunChunk {
  readonly stream: RunStream;
  readonly chunk: Uint8Array;
}

/** What a run keeps of its output. */
export class Capture {
  /** Live; silent for a stream that has told its share. */
  readonly chunks = new Subject<RunChunk>();
  readonly #kept: Readonly<Record<RunStream, HeadTail>>;
  readonly #told: Record<RunStream, number> = { stdout: 0, stderr: 0 };
  #gaps = 0;
  #gapBytes = 0;
  #closed: ClosedEvent | undefined;

  constructor(capBytes: number) {
    this.#kept = { stdout: new HeadTail(capBytes), stderr: new HeadTail(capBytes) };
  }

  /** Losses that the log announced. */
  get gaps(): number {
    return this.#gaps;
  }

  take(event: Delivery): void {
    switch (event.type) {
      case "output":
        return this.#output(event.stream, event.chunk);
      case "gap":
        this.#gaps += 1;
        this.#gapBytes += event.bytes ?? 0;
        // A gap does not say of which stream.
        for (const kept of Object.values(this.#kept)) kept.interrupt();
        return;
      case "closed":
        this.#closed = event;
    }
  }

  excerpt(stream: RunStream): Excerpt {
    return this.#kept[stream].excerpt(this.#lostBytes(stream));
  }

  #output(name: StreamName, chunk: Uint8Array): void {
    const stream = name === "stderr" ? "stderr" : "stdout";
    this.#kept[stream].push(chunk);
    if (this.#told[stream] === runDefaults.liveChunks) return;
    this.#told[stream] += 1;
    this.chunks.next({ stream, chunk });
  }

  /** The end of the log tells what each stream has printed; what remains, or is lost without an end, is counted for stdout. */
  #lostBytes(stream: RunStream): number {
    const missing = { stdout: this.#missing("stdout", "pty"), stderr: this.#missing("stderr") };
    return stream === "stderr" ? missing.stderr : Math.max(missing.stdout, this.#gapBytes - missing.stderr);
  }

  #missing(stream: RunStream, ...others: StreamName[]): number {
    if (!this.#closed) return 0;
    const { bytes } = this.#closed;
    const printed = [stream, ...others].reduce((sum, name) => sum + bytes[name], 0);
    return Math.max(0, printed - this.#kept[stream].totalBytes);
  }
}
