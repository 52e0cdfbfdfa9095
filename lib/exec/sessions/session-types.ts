// The options and answers of exec sessions. Every answer is plain JSON data.
import type {
  ErrorCode,
  ErrorData,
  ExitReason,
  KillScope,
  ProcessSpec,
  ProcessState,
} from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";

/** The largest output of an answer, in bytes or in tokens of 4 bytes each: an estimate, since models count differently. */
export type OutputBudget = { readonly bytes: number } | { readonly tokens: number };

/** How long to wait for output, and how much of it to return. */
export interface YieldOptions {
  /**
   * Answer after at most this many milliseconds, with the output so far; at once when the process exits. Clamped to the limits.
   * Before a call reports a running process, it waits `earlyExitMs` longer for the exit.
   */
  readonly yieldMs?: number;
  /** Answer earlier: once there is output and then none for this many milliseconds. 0: at the first output. Default: never. */
  readonly quietMs?: number;
  /** Default: 10,000 tokens. The middle of longer output is left out and counted. */
  readonly budget?: OutputBudget;
  /**
   * Aborts the call, which rejects with the signal's reason. A write or poll leaves its output to the next call; a start ends its
   * process.
   */
  readonly signal?: AbortSignal;
}

/** What to start, and how to wait for it. */
export interface ExecStart extends ProcessSpec, YieldOptions {
  /**
   * Called with the process as soon as it runs, before any wait: to follow it in another way, or to close the descriptors of
   * `inheritFds`, which must stay open until then.
   */
  readonly onSpawned?: (process: Process) => void;
}

/** What to write; with nothing to write, the call only polls. */
export interface ExecWrite extends YieldOptions {
  /** Text for stdin, sent unchanged: end a line with `\n`. On a terminal, `\u0003` is Ctrl-C and `\u0004` Ctrl-D. */
  readonly chars?: string;
  /** Bytes for stdin, instead of `chars`. */
  readonly bytes?: Uint8Array;
  /** Closes stdin after the write. */
  readonly eof?: boolean;
}

/** How to signal. */
export interface ExecSignal extends YieldOptions {
  /** Default: the process group. */
  readonly scope?: KillScope;
}

/** How to end a session. */
export interface ExecStop {
  /** Milliseconds from SIGTERM to SIGKILL. Default: the backend's; a backend without a grace kills at once. */
  readonly graceMs?: number;
  readonly budget?: OutputBudget;
}

/** Why contact with a process was lost; how it ended is not known. */
export interface ExecFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: ErrorData;
}

/**
 * What is known of the process. Three separate facts, each of which can be true without the next: the exit is known; every output
 * stream has ended, so that no output can follow; all output has been returned or counted as omitted.
 */
export interface ExecFacts {
  /** The id of the process at the backend: `attach` gives its whole retained output. */
  readonly processId: string;
  readonly exited: boolean;
  /** Null while it runs, and if a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it; null otherwise. */
  readonly signal: string | null;
  /** Why it ended; null while it runs. */
  readonly reason: ExitReason | null;
  /** True when the sandbox is the likely cause of a failure. */
  readonly sandboxDenied: boolean;
  /** Present and true if a managed network refused a connection before the exit. */
  readonly networkDenied?: boolean;
  readonly outputClosed: boolean;
  readonly outputDrained: boolean;
  /** Set when contact was lost; the exit may then never be known. */
  readonly failure?: ExecFailure;
}

/** The answer of each call: the new output since the last one. */
export interface ExecResult extends ExecFacts {
  /** The session for the next call. Absent when no more output can come. */
  readonly sessionId?: number;
  /** The new output in order; only its beginning if some is omitted. */
  readonly head: string;
  /** The end of the new output if some is omitted; otherwise empty. */
  readonly tail: string;
  /** Bytes omitted between head and tail: above the budget, or no longer retained by the log. */
  readonly omittedBytes: number;
  /** True if the backend does not know how many bytes it no longer retains: `omittedBytes` is then a lower bound. */
  readonly omittedAtLeast?: true;
  /**
   * The state of the input. `accepted`: queued for the process. `pending`: will be delivered, but waits for the link, or for room
   * since the process does not read. `stdinClosed`: refused, since the process was started without stdin, its stdin is closed, or
   * it has exited.
   */
  readonly input?: "accepted" | "pending" | "stdinClosed";
  /** Milliseconds that the call took. */
  readonly tookMs: number;
}

/** A session in the list. */
export interface ExecSessionInfo extends ExecFacts {
  readonly sessionId: number;
  readonly argv: readonly string[];
  /** The path on the backend's host. */
  readonly cwd: string;
  readonly tty: boolean;
  /** Whether it accepts input. */
  readonly stdin: boolean;
  readonly state: ProcessState | "failed";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Bytes printed and not yet returned, if known. */
  readonly unreadBytes?: number;
}
