// Process specs, call options, results and descriptions, as data.
import type { GapNotice, OutputEvent, Seq, StreamName, TerminalSize } from "./events.ts";
import type { ManagedNetwork } from "./network.ts";
import type { SandboxPolicy } from "./sandbox.ts";

/**
 * The base of the child's environment and what is removed from it. Applied in this order: `inherit`, the default excludes,
 * `exclude`, `set`, `includeOnly`, and last the spec's own `env`. Patterns are case-insensitive globs (`*`, `?`).
 */
export interface EnvPolicy {
  /** `all`: the supervisor's environment; `core`: HOME, PATH, SHELL and the like; `none`: nothing. */
  readonly inherit: "all" | "core" | "none";
  /** False (the default) drops inherited names that contain KEY, SECRET or TOKEN. */
  readonly ignoreDefaultExcludes?: boolean;
  /** Inherited names to drop. Does not affect `set` or `env`. */
  readonly exclude?: readonly string[];
  /** Variables to add. */
  readonly set?: Readonly<Record<string, string>>;
  /** When not empty, only matching names remain, including those of `set`. */
  readonly includeOnly?: readonly string[];
}

/** A terminal for the child, with modes to set before the program runs. */
export interface TtyOptions extends Partial<TerminalSize> {
  /** False: the terminal does not show typed input, which keeps secrets out of the output. Default true. */
  readonly echo?: boolean;
  /** True: no line editing and no translation of newlines; bytes pass unchanged. Default false. */
  readonly raw?: boolean;
}

/**
 * How to start a process. A byte that is not UTF-8, in an argument, variable or directory of a local process, is the lone
 * surrogate U+DC00 plus its value, from U+DC80 to U+DCFF.
 */
export interface ProcessSpec {
  /**
   * Program and arguments, at least one element. The program is searched in the child's PATH; a relative path is resolved
   * against `cwd`.
   */
  readonly argv: readonly string[];
  /** Id of the process; must not be in use. Default: a new uuid. */
  readonly processId?: string;
  /** Working directory. Default: the supervisor's. */
  readonly cwd?: string;
  /** The exact environment; with `envPolicy`, an overlay on the policy's result. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  readonly envPolicy?: EnvPolicy;
  /** The name that the program sees as its own (argv[0]). */
  readonly arg0?: string;
  /** A terminal instead of pipes. Default size: 24 rows, 80 columns. */
  readonly tty?: boolean | TtyOptions;
  /** Keep stdin open for `write`. Otherwise stdin is /dev/null. A tty is always writable. */
  readonly pipeStdin?: boolean;
  /** Put stdout and stderr on one pipe: the only way to keep their order. All output then arrives as `stdout`. */
  readonly merge?: boolean;
  /**
   * Terminate the whole tree after this many milliseconds of a monotonic clock; at once if the host was suspended beyond that.
   */
  readonly timeoutMs?: number;
  /**
   * What the process and its descendants may touch. Absent: everything that the user may. A start that cannot enforce it fails
   * with SANDBOX_UNAVAILABLE or SANDBOX_FAILED: nothing runs without the sandbox that was asked for.
   */
  readonly sandbox?: SandboxPolicy;
  /**
   * Without `sandbox`: a proxy on the host's loopback, as for a managed network. It is only advice, in variables such as
   * HTTPS_PROXY: nothing keeps the process from connecting by itself. With a sandbox use `sandbox.network`.
   */
  readonly networkProxy?: ManagedNetwork;
  /**
   * For an argv of bash, zsh or sh, then `-lc`, then a script: the start-up files of the user's shell, with `.bashrc`, `.zshrc` or
   * the file that ENV names, run once for all processes with this scope, and what they set up is replayed for each.
   */
  readonly shellSnapshot?: { readonly scope: string };
  /** Descriptors of this program that the child inherits under the same numbers: 0, its stdin, or from 3 on. Local only. */
  readonly inheritFds?: readonly number[];
  /** What happens to the process when the session that started it ends. Default `terminate`. No effect for a local process. */
  readonly onDetach?: "terminate" | "keep";
  /** Free text for lists and filters: at most `labels` of them, with at most `labelBytes` together. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A signal by its POSIX name, such as `SIGTERM`. */
export type SignalName = `SIG${string}`;

/**
 * Which processes a signal reaches:
 * - `process` the process alone
 * - `group` its process group; a job that was detached on purpose survives
 * - `session` its session, including the job-control groups of an interactive shell
 * - `tree` its session and all descendants, including daemons
 * After its exit, what is left of its session. A process that merely has its streams open is in none of these scopes: a
 * descriptor may have been passed to it.
 */
export type KillScope = "process" | "group" | "session" | "tree";

/** Result of a write: queued for the child, or the reason why not. */
export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

/** What to do with a reader that falls behind: report a `gap`, or hold the child back (`lossless`). */
export type DeliveryMode = "gap" | "lossless";

/** Arguments of a long-poll read. */
export interface ReadOptions {
  /** Return the output after this seq. Default 0. */
  readonly afterSeq?: Seq;
  /** Return at most this many bytes of output, but at least one whole chunk. Default: all that is retained. */
  readonly maxBytes?: number;
  /** Wait up to this many milliseconds for something new. Default 0. */
  readonly waitMs?: number;
}

/** Result of a read. */
export interface ReadResult {
  readonly chunks: readonly OutputEvent[];
  /** With `maxBytes`, the last returned seq plus one; otherwise the next seq that the log will use. */
  readonly nextSeq: Seq;
  /** The range lost after `afterSeq`; if several were lost, from the beginning of the first to the end of the last. */
  readonly gap?: GapNotice;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly closed: boolean;
  readonly sandboxDenied: boolean;
  /** As in the exit. */
  readonly networkDenied?: boolean;
}

/** A process that has streams of a supervised process open, so that they do not end. Never our own program. */
export interface PipeHolder {
  readonly pid: number;
  /** Its command line, at most 256 characters; if it has none, its name in brackets. */
  readonly command: string;
  /** Its open streams, in the order stdin, stdout, stderr; `pty` for a terminal, open in either direction. At least one. */
  readonly streams: readonly ("stdin" | StreamName)[];
}

/**
 * What a process is doing or waiting for:
 * - `reading-stdin` waits for input and nothing else: in a read of its stdin, or a poll of stdin alone
 * - `polling-stdin` waits for input or something else: programs with an event loop, full-screen programs
 * - `running` uses the CPU or is ready to
 * - `waiting-for-io` waits in the kernel, where no signal reaches it: a disk, a network file system
 * - `stopped` by SIGSTOP, SIGTSTP or a debugger, or because it accessed the terminal from the background
 * - `waiting-for-children` waits for descendants, which only sleep
 * - `sleeping` anything else: a timer, a connection, a lock; also where the system does not report more
 * - `exited` has exited, though other processes may still hold its streams
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

/** What a process is doing right now, as far as the operating system reports it. */
export interface Activity {
  readonly state: ActivityState;
  /**
   * The process that `state` describes: the supervised process, or the descendant in its foreground that determines it. With
   * `waiting-for-children`, the child that is waited for.
   */
  readonly pid?: number;
  /** Its command, as in `PipeHolder`. */
  readonly command?: string;
}

/** State of a process: starting, running, exited (exit known), closed (streams ended too), removed (forgotten). */
export type ProcessState = "starting" | "running" | "exited" | "closed" | "removed";

/** How much of the arguments a description leaves out. */
export interface ArgvOmitted {
  /** Number of arguments left out entirely, at the end. */
  readonly arguments: number;
  /** Bytes of UTF-8 left out, including those cut from the last argument shown. */
  readonly bytes: number;
}

/** A process as lists and `changes$` describe it. Contains no values of its environment. */
export interface ProcessInfo {
  readonly processId: string;
  /** Identifies one process among all that use this id; a uuid. */
  readonly incarnation: string;
  readonly state: ProcessState;
  /** Program and arguments: as many from the first on as fit into `infoArgvBytes`; the last one may be cut. */
  readonly argv: readonly string[];
  /** What is left out of `argv`; absent when nothing is. */
  readonly argvOmitted?: ArgvOmitted;
  readonly cwd: string;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** The operating system's pid, once the child is spawned. */
  readonly pid?: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /**
   * The active sandbox, as the host names it: `none`, `linuxSeccomp`, and on other hosts `macosSeatbelt` and
   * `windowsRestrictedToken`.
   */
  readonly sandbox: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Number of labels left out because the description would not fit into a frame; absent when none is. */
  readonly labelsOmitted?: number;
}
