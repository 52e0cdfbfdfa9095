// The commands of a process, local or remote. Commands go through the port; output and state come from the log. A port trusts
// its arguments: `Process` and the server have checked them.
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
  /** Idempotency key, not empty: a second write with the same id and bytes is acknowledged and not delivered again. */
  readonly writeId?: string;
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

/** Options of a read, with an abort signal. */
export interface ReadCallOptions extends ReadOptions {
  /** Aborts the read, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The commands of one process. */
export interface ProcessPort {
  /** Long-poll read; see `ReadOptions`. Rejects with PROCESS_UNKNOWN or PROCESS_STARTING. */
  read(options?: ReadCallOptions): Promise<ReadResult>;
  /**
   * Queues bytes for stdin and resolves with `accepted` when they are in the queue; a full queue makes the write wait. Writes
   * keep their order. Rejects with INVALID_PARAMS (empty id), WRITE_ID_CONFLICT, or LIMIT_EXCEEDED with nothing delivered: too
   * many bytes are waiting, or a terminal in canonical mode would drop part of a line (`ttyLine`: over 4,095 bytes since the last
   * line end, checked when the write is next in the queue, and only where the terminal's modes can be read). Never with EPIPE.
   */
  write(chunk: Uint8Array, options?: WriteOptions): Promise<WriteStatus>;
  /** Ends stdin after the queued writes: EOF on a pipe, the terminal's end-of-file character on a tty. Idempotent. */
  closeStdin(): Promise<WriteStatus>;
  /** Delivers a signal. Succeeds without effect when the process is unknown, starting or exited. */
  signal(signal: SignalName, options?: SignalOptions): Promise<void>;
  /** Sets the size of the terminal. Rejects with UNSUPPORTED without a tty; has no effect after the exit. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * Ends the process: SIGTERM, then SIGKILL after the grace. Does not wait for the exit, which `exit$` reports; `running` is
   * whether there was anything to end. A starting process is cancelled: its `start` rejects with START_CANCELLED. After the
   * exit, an explicit `scope` still reaches the processes that were left behind.
   */
  terminate(options?: TerminateOptions): Promise<{ readonly running: boolean }>;
  /**
   * Lists the processes that have this process's streams open, sorted by pid: after the exit, they keep it from closing. Empty
   * when it is closed. Without the supervisor's own process and those that it may not inspect. Rejects with UNSUPPORTED where the
   * system cannot report it (no /proc, a provider without real pipes), with PROCESS_UNKNOWN or PROCESS_STARTING.
   */
  holders(): Promise<readonly PipeHolder[]>;
  /** What the process currently does or waits for. Rejects as `holders` does. */
  activity(): Promise<Activity>;
}
