// The events in the log of a process. A subscriber sees only these. Common mistake: `exited` is not the end, since output of a
// grandchild may follow it; `closed` is.

/** Position in the log of one incarnation: safe integers 1, 2, 3 and so on, without holes. 0 means "before the first event". */
export type Seq = number;

/** The source of output. A tty has one stream, `pty`; pipes have two, or only `stdout` with `merge`. */
export type StreamName = "stdout" | "stderr" | "pty";

/** Size of a terminal in character cells; each from 1 to 65,535. */
export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/**
 * Bytes that the child printed. Chunk borders have no meaning and may split a character. The bytes belong to the log: copy them
 * before transferring their buffer.
 */
export interface OutputEvent {
  readonly type: "output";
  readonly seq: Seq;
  readonly stream: StreamName;
  readonly chunk: Uint8Array;
}

/** The terminal was resized; only on ttys. */
export interface ResizedEvent {
  readonly type: "resized";
  readonly seq: Seq;
  readonly size: TerminalSize;
}

/**
 * How a process ended, as metrics count it. `terminated` if a termination was requested before the exit, regardless of the exit
 * code.
 */
export type ExitResult = "success" | "error" | "terminated";

/**
 * Why a process ended: on its own, by another program's signal, by `terminate`, by its `timeoutMs`, or unknown because its
 * supervisor died.
 */
export type ExitReason = "exited" | "signal" | "terminate" | "timeout" | "lost";

/** The child has exited. `exitCode` is null after a death by signal, never 0 or -1; otherwise `signal` is null. */
export interface ExitedEvent {
  readonly type: "exited";
  readonly seq: Seq;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly result: ExitResult;
  readonly reason: ExitReason;
  /** True when the sandbox, not the program, is the likely cause of a failure. */
  readonly sandboxDenied: boolean;
  /** Present and true if a managed network refused a connection of the process before its exit. */
  readonly networkDenied?: boolean;
}

/** The exit is known and every output stream has ended. Nothing follows. `bytes` counts all output, evicted or not. */
export interface ClosedEvent {
  readonly type: "closed";
  readonly seq: Seq;
  readonly bytes: Readonly<Record<StreamName, number>>;
}

/** An event of the log. */
export type ProcessEvent = OutputEvent | ResizedEvent | ExitedEvent | ClosedEvent;

/**
 * Announces that the events `firstSeq..lastSeq` are no longer retained. Derived by a cursor for its reader, never stored.
 * `bytes` is the exact number of lost output bytes, where the reader's position determines it. Where it does not, `endOffset` is
 * the number of output bytes printed up to `lastSeq`, if that is known: a reader that counts what it has received can subtract.
 */
export interface GapNotice {
  readonly type: "gap";
  readonly firstSeq: Seq;
  readonly lastSeq: Seq;
  readonly bytes?: number;
  readonly endOffset?: number;
}

/** What a subscriber receives: events in the order of their seqs, and a gap in place of each lost range. */
export type Delivery = ProcessEvent | GapNotice;
