// The commands one may give to a process, near or far. Everything that changes a process is here; everything that it
// printed or became is in its log. A port trusts its arguments: `Process` and the wire have checked them.
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
}

/** Whom to signal. */
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

/** Arguments of a read, as a call takes them. */
export interface ReadCallOptions extends ReadOptions {
  /** Ends the wait: the read then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The commands of one process. */
export interface ProcessPort {
  /** Long-poll read; see `ReadOptions`. Rejects with PROCESS_UNKNOWN or PROCESS_STARTING. */
  read(options?: ReadCallOptions): Promise<ReadResult>;
  /**
   * Queues bytes for stdin. `accepted` is said once they are in the queue, which waits for room while it is full; writes
   * keep their order. Rejects with INVALID_PARAMS (empty id), WRITE_ID_CONFLICT, or LIMIT_EXCEEDED with nothing delivered: too
   * much is waiting, or a terminal in canonical mode would drop part of a line (`ttyLine`: over 4,095 bytes, counted from the last
   * line end, judged when the write's turn has come; not where the modes of the terminal cannot be read). Never with EPIPE.
   */
  write(chunk: Uint8Array, options?: WriteOptions): Promise<WriteStatus>;
  /** Ends stdin after what was queued: EOF on a pipe, the terminal's end-of-file character on a tty. Idempotent. */
  closeStdin(): Promise<WriteStatus>;
  /** Delivers a signal. Unknown, starting or exited: succeeds and does nothing. */
  signal(signal: SignalName, options?: SignalOptions): Promise<void>;
  /** Sets the size of the terminal. Rejects with UNSUPPORTED without a tty; after the exit it does nothing. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * Asks the process to end and makes sure of it: SIGTERM, the grace, SIGKILL. `running` tells whether there was something
   * to end; the end itself is told by `exit$`. A starting process is cancelled: its `start` rejects with START_CANCELLED.
   * After the exit, an explicit `scope` still reaches what the process left behind.
   */
  terminate(options?: TerminateOptions): Promise<{ readonly running: boolean }>;
  /**
   * Who still has the process's streams open, sorted by pid: also after the exit, where they are why it is not closed. Empty once
   * it is closed. Leaves out our own program, and whom we may not look into. Rejects with UNSUPPORTED where the system does not
   * tell (no /proc, a provider without real pipes), with PROCESS_UNKNOWN or PROCESS_STARTING.
   */
  holders(): Promise<readonly PipeHolder[]>;
  /** What the process does at this moment, or waits for. Rejects as `holders` does. */
  activity(): Promise<Activity>;
}
