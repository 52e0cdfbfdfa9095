// Receives the output of a command: keeps an excerpt of each stream, and forwards live chunks to subscribers.
import { Subject } from "rxjs";
import type { ClosedEvent, Delivery, StreamName } from "../../../protocol/index.ts";
import { type Excerpt, HeadTail } from "../head-tail.ts";
import { runDefaults } from "./run-options.ts";

/** The streams of a result. A terminal and `merge` have only stdout. */
export type RunStream = "stdout" | "stderr";

/** Bytes just printed. The log owns them: copy them before a transfer. */
export interface RunChunk {
  readonly stream: RunStream;
  readonly chunk: Uint8Array;
}

/** The output that a run keeps. */
export class Capture {
  /** Live output. A stream stops here after `runDefaults.liveChunks` chunks. */
  readonly chunks = new Subject<RunChunk>();
  readonly #kept: Readonly<Record<RunStream, HeadTail>>;
  readonly #liveCount: Record<RunStream, number> = { stdout: 0, stderr: 0 };
  #gaps = 0;
  #gapBytes = 0;
  #closed: ClosedEvent | undefined;

  constructor(capBytes: number) {
    this.#kept = { stdout: new HeadTail(capBytes), stderr: new HeadTail(capBytes) };
  }

  /** The number of gaps that the log announced. */
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
        // A gap does not say which stream it belongs to.
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
    if (this.#liveCount[stream] === runDefaults.liveChunks) return;
    this.#liveCount[stream] += 1;
    this.chunks.next({ stream, chunk });
  }

  /** `closed` has the byte counts of each stream. Lost bytes beyond these, or without a `closed`, are counted for stdout. */
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
