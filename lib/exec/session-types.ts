// What exec sessions take and answer, as plain data: every answer is what JSON can carry.
import type { ErrorCode, ErrorData, ExitReason, KillScope, ProcessSpec, ProcessState } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** How much output an answer may hold, in bytes, or in tokens of 4 bytes each: an estimate, models count differently. */
export type OutputBudget = { readonly bytes: number } | { readonly tokens: number };

/** How long to wait for what, and how much of it to return. */
export interface YieldOptions {
  /**
   * Answer after this many milliseconds at the latest, with what came until then; the exit answers at once. Clamped to the limits.
   * Before it says that the process still runs, a call waits `earlyExitMs` more for the exit.
   */
  readonly yieldMs?: number;
  /** Answer earlier: once there is output and it has been quiet for this long. 0 answers at the first output. Default: never. */
  readonly quietMs?: number;
  /** Default: 10,000 tokens. What exceeds it is left out in the middle, and counted. */
  readonly budget?: OutputBudget;
  /**
   * Gives up: the call rejects with the signal's reason. What a write or poll had read is there for the next call; what a start
   * has started is ended.
   */
  readonly signal?: AbortSignal;
}

/** What to start, and how to wait for it. */
export interface ExecStart extends ProcessSpec, YieldOptions {
  /**
   * Told of the process as soon as it runs, before anything is waited for: to follow it in another way, or to close what
   * `inheritFds` names, which must stay open until then.
   */
  readonly onSpawned?: (process: Process) => void;
}

/** What to write; without any of it a call only polls. */
export interface ExecWrite extends YieldOptions {
  /** Text for stdin, exactly: end a line with `\n`. On a terminal, `\u0003` is Ctrl-C and `\u0004` Ctrl-D. */
  readonly chars?: string;
  /** The same as bytes. */
  readonly bytes?: Uint8Array;
  /** Ends stdin after what is written. */
  readonly eof?: boolean;
}

/** How to signal. */
export interface ExecSignal extends YieldOptions {
  /** Default: the process group. */
  readonly scope?: KillScope;
}

/** How to end a session. */
export interface ExecStop {
  /** Milliseconds from SIGTERM to SIGKILL. Default: the backend's; a backend that knows no grace kills at once. */
  readonly graceMs?: number;
  readonly budget?: OutputBudget;
}

/** Why nothing more will be heard of a process, though nobody knows how it ended. */
export interface ExecFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data: ErrorData;
}

/**
 * What is known of the process. Separate facts, each of which can be true without the next: the exit is known; every output
 * stream has ended, so that nothing can follow; all that was printed has been returned or counted as omitted.
 */
export interface ExecFacts {
  /** Address of the process at the backend: `attach` gives its whole retained output. */
  readonly processId: string;
  readonly exited: boolean;
  /** Null while it runs, and after a death by signal. */
  readonly exitCode: number | null;
  /** The signal that ended it; null otherwise. */
  readonly signal: string | null;
  /** Why it ended, once it has. */
  readonly reason: ExitReason | null;
  /** True when the sandbox, not the program, is the likely cause of a failure. */
  readonly sandboxDenied: boolean;
  readonly outputClosed: boolean;
  readonly outputDrained: boolean;
  /** Set when contact was lost: then the exit may never be known. */
  readonly failure?: ExecFailure;
}

/** The answer of each call: what is new since the last one. */
export interface ExecResult extends ExecFacts {
  /** Address for the next call. Absent when nothing more can come. */
  readonly sessionId?: number;
  /** The new output in the order it came; when something is left out, what came first. */
  readonly head: string;
  /** When something is left out, what came last; otherwise empty. */
  readonly tail: string;
  /** Bytes left out between head and tail: above the budget, or no longer retained by the log. */
  readonly omittedBytes: number;
  /** True where the backend could not tell how much it no longer retains: `omittedBytes` is then the least. */
  readonly omittedAtLeast?: true;
  /**
   * What became of the input: `accepted` is queued for the process; `pending` waits for room, since the process does not read,
   * or for the link, and will be delivered; `stdinClosed` was refused: it was started without, has closed it, or has exited.
   */
  readonly input?: "accepted" | "pending" | "stdinClosed";
  /** How long the call took. */
  readonly tookMs: number;
}

/** A session as lists show it. */
export interface ExecSessionInfo extends ExecFacts {
  readonly sessionId: number;
  readonly argv: readonly string[];
  /** As the backend calls it. */
  readonly cwd: string;
  readonly tty: boolean;
  /** Whether it takes input. */
  readonly stdin: boolean;
  readonly state: ProcessState | "failed";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Bytes printed and not yet returned, where known. */
  readonly unreadBytes?: number;
}
