// What one asks of a process, as data: how to start it, what its calls take and answer, how it is listed.
import type { GapNotice, OutputEvent, Seq, StreamName, TerminalSize } from "./events.ts";

/**
 * Where the child's environment starts from and what is removed from it. Applied in this order: `inherit`, the default
 * excludes, `exclude`, `set`, `includeOnly`, and last the spec's own `env` on top. Patterns are case-insensitive globs (`*`, `?`).
 */
export interface EnvPolicy {
  /** `all`: the supervisor's environment; `core`: HOME, PATH, SHELL and the like; `none`: nothing. */
  readonly inherit: "all" | "core" | "none";
  /** False (the default) drops inherited names that contain KEY, SECRET or TOKEN. */
  readonly ignoreDefaultExcludes?: boolean;
  /** Inherited names to drop. Does not touch `set` nor `env`. */
  readonly exclude?: readonly string[];
  /** Values to add. */
  readonly set?: Readonly<Record<string, string>>;
  /** When not empty, only matching names stay, those of `set` included. */
  readonly includeOnly?: readonly string[];
}

/** A terminal for the child, with what may be preset before the program runs. */
export interface TtyOptions extends Partial<TerminalSize> {
  /** False: the terminal does not show what is typed (the secret stays out of the output). Default true. */
  readonly echo?: boolean;
  /** True: no line editing and no translation of newlines, bytes pass unchanged. Default false. */
  readonly raw?: boolean;
}

/** Who asked for a process, for correlation only: it grants nothing. The names of the variables are the Codex exec-server's. */
export interface ProcessMetadata {
  /** Becomes CODEX_THREAD_ID. */
  readonly threadId?: string;
  /** Becomes CODEX_TOOL_CALL_ID; may be empty; one that contains NUL is left out. */
  readonly toolCallId?: string;
}

/** How to start a process. */
export interface ProcessSpec {
  /** Program and arguments. The program is looked up in the child's PATH, a relative path in `cwd`. At least one element. */
  readonly argv: readonly string[];
  /** Address of the process; must not be in use. Default: a new uuid. */
  readonly processId?: string;
  /** Working directory. Default: the supervisor's. */
  readonly cwd?: string;
  /** The exact environment, or, with `envPolicy`, an overlay on what the policy gives. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  readonly envPolicy?: EnvPolicy;
  /** Applied to the environment last: what it leaves out is removed there, so that no stale id is passed on. */
  readonly metadata?: ProcessMetadata;
  /** What the program sees as its own name (argv[0]). */
  readonly arg0?: string;
  /** A terminal instead of pipes. Default size: 24 rows, 80 columns. */
  readonly tty?: boolean | TtyOptions;
  /** Keep stdin open for `write`. Otherwise stdin is /dev/null. A tty is always writable. */
  readonly pipeStdin?: boolean;
  /** stdout and stderr on ONE pipe: the only way to keep their order. Everything then arrives as `stdout`. */
  readonly merge?: boolean;
  /** Terminate the whole tree after this many milliseconds of a monotonic clock; at once when the host stood still beyond that. */
  readonly timeoutMs?: number;
  /** Descriptors of this process that the child keeps under the same number. Local only. */
  readonly inheritFds?: readonly number[];
  /** What becomes of it when the session that started it ends: default `terminate`. Locally without meaning. */
  readonly onDetach?: "terminate" | "keep";
  /** Free text for lists and filters: at most `labels` of them, `labelBytes` together. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A signal by its POSIX name, such as `SIGTERM`. */
export type SignalName = `SIG${string}`;

/**
 * Whom a signal reaches: the `process` alone; its process `group` (a job detached on purpose survives); its `session`
 * (also the job-control groups of an interactive shell); the `tree` (session and descendants: also daemons). What
 * only has its streams open is none of them: a descriptor may have been passed to it. After the end, what is left of the session.
 */
export type KillScope = "process" | "group" | "session" | "tree";

/** Answer to a write: queued for the child, or why not. */
export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

/** What to do with a reader that falls behind: tell it a `gap`, or hold the child back (`lossless`). */
export type DeliveryMode = "gap" | "lossless";

/** Arguments of a long-poll read. */
export interface ReadOptions {
  /** Return what follows this seq. Default 0. */
  readonly afterSeq?: Seq;
  /** At most this many bytes of output, but at least one whole chunk. Default: all that is retained. */
  readonly maxBytes?: number;
  /** Wait up to this many milliseconds for something new. Default 0. */
  readonly waitMs?: number;
}

/** Answer to a read. */
export interface ReadResult {
  readonly chunks: readonly OutputEvent[];
  /** With `maxBytes`, the last returned seq plus one; else the next seq the log will use. */
  readonly nextSeq: Seq;
  /** What was lost between `afterSeq` and the first chunk. */
  readonly gap?: GapNotice;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly closed: boolean;
  readonly sandboxDenied: boolean;
}

/** Who still has streams of a process open, so that they do not end. Anybody but our own program. */
export interface PipeHolder {
  readonly pid: number;
  /** Its command line, at most 256 characters; in brackets the bare name where it has none. */
  readonly command: string;
  /** Which, in the order stdin, stdout, stderr; `pty` for a terminal, in whichever direction. At least one. */
  readonly streams: readonly ("stdin" | StreamName)[];
}

/**
 * What a process is busy with, or waits for:
 * - `reading-stdin` it waits for input, and for nothing else: in a read of its stdin, or a poll of that alone
 * - `polling-stdin` it waits for input or for something else: programs with an event loop, full-screen programs
 * - `running` it uses the CPU, or would if one were free
 * - `waiting-for-io` in the kernel, where no signal reaches it: a disk, a network file system
 * - `stopped` by SIGSTOP, SIGTSTP, a debugger, or because it touched the terminal from the background
 * - `waiting-for-children` for descendants, which only sleep
 * - `sleeping` anything else: a timer, a connection, a lock; also where the system does not tell more
 * - `exited` it is over, though others may still hold its streams
 */
export type ActivityState =
  | "reading-stdin"
  | "polling-stdin"
  | "running"
  | "waiting-for-io"
  | "stopped"
  | "waiting-for-children"
  | "sleeping"
  | "exited";

/** What a process does at this moment, as far as the operating system tells. */
export interface Activity {
  readonly state: ActivityState;
  /** Who does that: the process, or the descendant in its foreground that decides. With `waiting-for-children`, who is waited for. */
  readonly pid?: number;
  /** Its command, as in `PipeHolder`. */
  readonly command?: string;
}

/** Where a process is in its life: starting, running, exited (exit known), closed (streams ended too), removed (forgotten). */
export type ProcessState = "starting" | "running" | "exited" | "closed" | "removed";

/** How much of the arguments an info leaves out. */
export interface ArgvOmitted {
  /** Whole arguments, at the end. */
  readonly arguments: number;
  /** Bytes of UTF-8, those cut from the last one shown included. */
  readonly bytes: number;
}

/** A process as lists and `changes$` show it. Holds no environment value. */
export interface ProcessInfo {
  readonly processId: string;
  /** One life of a process id; a uuid. */
  readonly incarnation: string;
  readonly state: ProcessState;
  /** Program and arguments, from the first on as many as `infoArgvBytes` hold; the last of them may be cut. */
  readonly argv: readonly string[];
  /** What is left out of `argv`; absent when nothing is. */
  readonly argvOmitted?: ArgvOmitted;
  readonly cwd: string;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** Operating system's pid, once spawned. */
  readonly pid?: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The sandbox in force, in the host's words: `none` here so far; a Codex host also knows `linuxSeccomp`, `macosSeatbelt`, `windowsRestrictedToken`. */
  readonly sandbox: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that are left out, since the info would not fit into a frame; absent when none is. */
  readonly labelsOmitted?: number;
}
