// The commands to a process, local or remote. Everything that changes a process is here; everything that it printed and how it
// ended is in its log. A port trusts its arguments: `Process` and the wire have checked them.
import type {
  Activity,
  KillScope,
  PipeHolder,
  ReadOptions,
  ReadResult,
  SignalName,
  TerminalSize,
  WriteStatus,
} from "../../protocol/index.ts";

/** How to write to stdin. */
export interface WriteOptions {
  /** Idempotency key: a second write with the same id and bytes is acknowledged and not delivered again. Not empty. */
  readonly writeId?: string;
  /** Rejects with its reason when it is aborted. Bytes that were on their way by then may still be delivered. */
  readonly signal?: AbortSignal;
}

/** Which processes to signal. */
export interface SignalOptions {
  /** Default: the process group. */
  readonly scope?: KillScope;
}

/** How to end a process. */
export interface TerminateOptions {
  /** Milliseconds from SIGTERM to SIGKILL; 0 sends SIGKILL at once. Default: `limits.graceMs`. */
  readonly graceMs?: number;
  /** Default: the process group. */
  readonly scope?: KillScope;
}

/** Arguments of a read. */
export interface ReadCallOptions extends ReadOptions {
  /** Aborts the wait; the read then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The commands of one process. */
export interface ProcessPort {
  /** Long-poll read; see `ReadOptions`. Rejects with PROCESS_UNKNOWN or PROCESS_STARTING. */
  read(options?: ReadCallOptions): Promise<ReadResult>;
  /**
   * Queues bytes for stdin, in the order of the writes. Resolves with `accepted` once they are in the queue; while it is full,
   * the write waits for room. Rejects with INVALID_PARAMS (empty id), WRITE_ID_CONFLICT, or LIMIT_EXCEEDED, in which case
   * nothing is delivered: either too many bytes are waiting, or a terminal in canonical mode would drop part of a line
   * (`ttyLine`: over 4,095 bytes since the last line end, checked when the write is next in the queue; not checked where the
   * terminal's mode cannot be read). Never rejects with EPIPE.
   */
  write(chunk: Uint8Array, options?: WriteOptions): Promise<WriteStatus>;
  /** Ends stdin after the queued bytes: EOF on a pipe, the end-of-file character on a tty. Idempotent. */
  closeStdin(): Promise<WriteStatus>;
  /** Delivers a signal. For an unknown, starting or exited process it succeeds without effect. */
  signal(signal: SignalName, options?: SignalOptions): Promise<void>;
  /** Sets the size of the terminal. Rejects with UNSUPPORTED without a tty; has no effect after the exit. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * Ends the process: SIGTERM, and SIGKILL after the grace period. `running` reports whether it was still running; the exit
   * itself arrives through `exit$`. A starting process is cancelled: its `start` rejects with START_CANCELLED. After the exit,
   * an explicit `scope` still reaches the processes that it left behind.
   */
  terminate(options?: TerminateOptions): Promise<{ readonly running: boolean }>;
  /**
   * Processes that have the streams of this process open, sorted by pid. After the exit, these are why it is not closed yet.
   * Empty once it is closed. Leaves out our own program and processes that we may not inspect. Rejects with UNSUPPORTED where
   * this cannot be found out (no /proc, a spawner without real pipes), or with PROCESS_UNKNOWN or PROCESS_STARTING.
   */
  holders(): Promise<readonly PipeHolder[]>;
  /** What the process is doing or waiting for right now. Rejects as `holders` does. */
  activity(): Promise<Activity>;
}
