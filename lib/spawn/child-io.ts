// The descriptors of a child on our side, whichever way they were made: a pair of pipes or a terminal.
import type { StreamName, TerminalSize } from "../../protocol/index.ts";
import type { ChildStdin } from "./child.ts";

/** Where a child's output goes. */
export interface IoSink {
  output(stream: StreamName, chunk: Uint8Array): void;
  ended(stream: StreamName): void;
}

/** Reads and writes the streams of one child. */
export interface ChildIo {
  readonly streams: readonly StreamName[];
  readonly stdin: ChildStdin | undefined;
  /** Names under which /proc shows the other ends, to find who still holds them. */
  readonly files: ReadonlySet<string>;
  /** Begins to read. */
  start(sink: IoSink): void;
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
