// The descriptors of a child on our side, whichever way they were made: a pair of pipes or a terminal.
import type { StreamName, TerminalSize } from "../../protocol/index.ts";
import type { ChildStdin } from "./child.ts";
import type { StreamFile } from "./open-files.ts";

/** Where a child's output goes. */
export interface IoSink {
  output(stream: StreamName, chunk: Uint8Array): void;
  ended(stream: StreamName): void;
}

/** Reads and writes the streams of one child. */
export interface ChildIo {
  readonly streams: readonly StreamName[];
  readonly stdin: ChildStdin | undefined;
  /** Whether /proc, where there is one, tells who has its files open. */
  readonly isTraceable: boolean;
  /** What others may have open, to find who belongs to the child. Not a terminal that is closed here: its number is the next one's. */
  readonly files: readonly StreamFile[];
  /** Those of them whose ends here are still open. */
  readonly openFiles: readonly StreamFile[];
  /** From here on the sink is told; once, and before all that follows. */
  start(sink: IoSink): void;
  /** Begins to read by itself. Whoever knows that the child is gone says so before: what is over by then need not be watched. */
  poll(): void;
  pause(): void;
  resume(): void;
  resize(size: TerminalSize): void;
  /** The child is gone: closes its stdin, and delivers what it left in the kernel's buffers before anything else happens. */
  exited(): void;
  /** Closes every descriptor. A stream that had not ended ends here. */
  release(): void;
}

/** One read at most: a pipe's default capacity. */
export const READ_BYTES = 64 * 1024;

/** Bytes of the shared read buffer as a chunk of their own: the one copy on the way from the kernel to every reader. */
export function copyChunk(buffer: Uint8Array, bytes: number): Uint8Array {
  return Buffer.from(buffer.subarray(0, bytes));
}
