// The elements of a process's log, as data. A subscriber sees these and nothing else; what a reader gets wrong first:
// `exited` is not the end (output of a grandchild may follow it), `closed` is.

/** Position in the log of one incarnation: safe integers 1, 2, 3 ... without holes; 0 means "before the first event". */
export type Seq = number;

/** Where output came from. A tty has one stream, `pty`; pipes have two, or only `stdout` with `merge`. */
export type StreamName = "stdout" | "stderr" | "pty";

/** Size of a terminal in character cells; each from 1 to 65,535. */
export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** Bytes the child printed. Chunk borders carry no meaning and may split a character. The bytes belong to the log: copy before transferring. */
export interface OutputEvent {
  readonly type: "output";
  readonly seq: Seq;
  readonly stream: StreamName;
  readonly chunk: Uint8Array;
}

/** The terminal got another size; only on ttys. */
export interface ResizedEvent {
  readonly type: "resized";
  readonly seq: Seq;
  readonly size: TerminalSize;
}

/** How a process ended, in the words of metrics: a termination that somebody asked for wins over the exit code. */
export type ExitResult = "success" | "error" | "terminated";

/** Why a process ended: by itself, by a signal from elsewhere, by `terminate`, by its `timeoutMs`, or unknown since its supervisor died. */
export type ExitReason = "exited" | "signal" | "terminate" | "timeout" | "lost";

/** The child's exit is known. `exitCode` is null after a death by signal and `signal` is null otherwise: never 0 or -1 for a signal. */
export interface ExitedEvent {
  readonly type: "exited";
  readonly seq: Seq;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly result: ExitResult;
  readonly reason: ExitReason;
  /** True when the sandbox, not the program, is the likely cause of a failure. */
  readonly sandboxDenied: boolean;
}

/** The exit is known and every output stream ended. Nothing follows. `bytes` counts all that was printed, evicted or not. */
export interface ClosedEvent {
  readonly type: "closed";
  readonly seq: Seq;
  readonly bytes: Readonly<Record<StreamName, number>>;
}

/** An element of the log. */
export type ProcessEvent = OutputEvent | ResizedEvent | ExitedEvent | ClosedEvent;

/**
 * Announced loss: the events `firstSeq..lastSeq` are no longer retained. Derived by a cursor for its reader, never stored.
 * `bytes` is the exact number of output bytes lost, where the reader's position tells it.
 */
export interface GapNotice {
  readonly type: "gap";
  readonly firstSeq: Seq;
  readonly lastSeq: Seq;
  readonly bytes?: number;
}

/** What a subscriber receives: the events in order of their seq, and a gap in place of each lost range. */
export type Delivery = ProcessEvent | GapNotice;
