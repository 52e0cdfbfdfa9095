// Our side of a child's descriptors, independent of their kind: pipes, sockets or a terminal.
import type { StreamName, TerminalSize } from "../../../protocol/index.ts";
import type { ChildStdin } from "../child.ts";
import type { StreamFile } from "../proc/open-files.ts";

/** Receives a child's output. */
export interface IoSink {
  output(stream: StreamName, chunk: Uint8Array): void;
  ended(stream: StreamName): void;
}

/** Reads and writes the streams of one child. */
export interface ChildIo {
  readonly streams: readonly StreamName[];
  readonly stdin: ChildStdin | undefined;
  /** Whether /proc, if present, shows which processes have the child's files open. */
  readonly isTraceable: boolean;
  /** Files that descendants may have open. Without a terminal that is closed here, since its number is reused. */
  readonly files: readonly StreamFile[];
  /** The entries of `files` whose ends on our side are still open. */
  readonly openFiles: readonly StreamFile[];
  /** Sets the sink. Called once, before all other methods; after a failed spawn only `release` is called. */
  connect(sink: IoSink): void;
  /** Starts to read. If the child has exited, call `exited` first: streams that have ended by then need no polling. */
  startReading(): void;
  pause(): void;
  resume(): void;
  resize(size: TerminalSize): void;
  /** The child has exited: closes its stdin and delivers its output left in kernel buffers, synchronously. */
  exited(): void;
  /** Closes every descriptor. A stream that had not ended ends here. */
  release(): void;
}

/** Most bytes of one read: a pipe's default capacity. */
export const READ_BYTES = 64 * 1024;

/** Copies bytes out of the shared read buffer: the only copy between the kernel and every reader. */
export function copyChunk(buffer: Uint8Array, bytes: number): Uint8Array {
  return Buffer.from(buffer.subarray(0, bytes));
}
