// The interface between an actor and its child: events out, bytes in, signals and inspection. It hides how the child was
// spawned (posix_spawn, child_process, node-pty).
import type { Observable } from "rxjs";
import type { Activity, KillScope, PipeHolder, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";

/** How a child ended, in the terms of wait(2): one of the two is null. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** An event of a child. `ended` comes once per stream, `exited` once; output of a grandchild may follow `exited`. */
export type ChildEvent =
  | { readonly type: "output"; readonly stream: StreamName; readonly chunk: Uint8Array }
  | { readonly type: "ended"; readonly stream: StreamName }
  | ({ readonly type: "exited" } & ExitStatus);

/** The writing end of a child's stdin. One write at a time: the next begins after `done`. */
export interface ChildStdin {
  /** The line limit of a terminal; undefined for pipes, and where terminal modes cannot be read. */
  readonly line?: LineLimit;
  /** Calls `done` once the kernel has accepted all bytes, or with an error. */
  write(chunk: Uint8Array, done: (error?: Error) => void): void;
  /** Ends the input after all earlier writes. */
  end(): void;
}

/** A terminal truncates a line that is too long. A write is checked when it is next in the queue: see `StdinQueue`. */
export interface LineLimit {
  /** The error if this chunk, written after all reserved chunks, would be truncated in the terminal's current mode. */
  truncationError(chunk: Uint8Array): ExecwireError | undefined;
  /** Announces that this chunk will be written, after all chunks reserved before. */
  reserve(chunk: Uint8Array): void;
}

/** Evidence that a process belongs to a session whose leader's pid may have been reused. */
export interface SessionProof {
  /** In clock ticks since boot (see `ProcessEntry`). A member that started up to this tick did so while the pid was reserved. */
  readonly reservedUntil: number;
  /** Marks that the leader had (`Marks`). Members that were forked later have one of them. */
  readonly marks: readonly number[];
}

/** A group of processes that can be signalled and checked for survivors. */
export interface KillTarget {
  /** Sends a signal. Throws SIGNAL_FAILED if there are processes in scope and the system permits signalling none of them. */
  kill(signal: SignalName, scope: KillScope): void;
  /** Whether any process in scope is left, zombies aside. False if that cannot be determined. */
  hasSurvivors(scope: KillScope): boolean;
}

/**
 * Background jobs that may be left in the session of a child that exited and was released. A process that left the session
 * was detached on purpose and is not included.
 */
export interface Leftover extends KillTarget {
  /** The pid that the child had; it may have been reused since. */
  readonly pid: number;
  /** Undefined if the members are known individually instead. */
  readonly proof: SessionProof | undefined;
}

/** A running child. Safe to `kill` at any time: its pid and group stay reserved until `release`. */
export interface Child extends KillTarget {
  readonly pid: number;
  /** Whether the pid stays reserved until `release`; otherwise only until the exit. */
  readonly isPidReserved: boolean;
  readonly streams: readonly StreamName[];
  /**
   * All events of the child; completes after the exit and the end of every stream. Reading starts with the (only)
   * subscription, so nothing is lost before it. The child's own output comes before `exited`, unless paused.
   */
  readonly events$: Observable<ChildEvent>;
  readonly stdin: ChildStdin | undefined;
  /** Whether a managed network has refused a connection of it so far; undefined without one. */
  readonly networkDenied?: boolean;
  /** Stops reading; the child blocks once the kernel's buffer is full. */
  pause(): void;
  resume(): void;
  resize(size: TerminalSize): void;
  /** Undefined if the operating system provides no such information. */
  readonly inspector: ProcessInspector | undefined;
  /**
   * Releases the pid and closes every descriptor, which ends any open stream. Returns the processes that the child may have
   * left behind; undefined if there are none, or if the child still runs.
   */
  release(): Leftover | undefined;
}

/** Read-only inspection of a child. Safe at any time. */
export interface ProcessInspector {
  /** The processes that have its streams open. */
  holders(): Promise<readonly PipeHolder[]>;
  activity(): Promise<Activity>;
}

/** A terminal to create. */
export interface TtyLaunch extends TerminalSize {
  readonly echo: boolean;
  readonly raw: boolean;
}

/**
 * Everything a spawn needs, resolved: spawners look nothing up and apply no defaults. Strings keep bytes that are not UTF-8
 * (`byte-strings.ts`).
 */
export interface Launch {
  /** Path of the program, perhaps relative to `cwd`; it has a slash. */
  readonly file: string;
  /** The arguments as the program sees them, its own name first. */
  readonly argv: readonly string[];
  /** Undefined: ours, which the child does not even enter, so that it may have been removed or be unreadable. */
  readonly cwd: string | undefined;
  /** `NAME=VALUE` each. */
  readonly env: readonly string[];
  readonly tty: TtyLaunch | undefined;
  readonly pipeStdin: boolean;
  readonly merge: boolean;
  readonly inheritFds: readonly number[];
  /** Descriptors of ours that the child gets under other numbers, none of which is among `inheritFds`. Posix spawner only. */
  readonly placedFds?: readonly PlacedFd[];
}

/** A descriptor of ours, and its number in the child. */
export interface PlacedFd {
  readonly from: number;
  readonly to: number;
}

/** System calls that a sandbox needs: see `Libc`. */
export interface SandboxCalls {
  memoryFile(content: Uint8Array): number;
  pipe(): readonly [number, number];
  openProcess(pid: number): ProcessHandle | undefined;
}

/** A reference to one process that stays valid when its pid is reused: a pidfd. */
export interface ProcessHandle {
  /** pidfd_send_signal(2). Throws an error with `code`, ESRCH if the process is gone. */
  signal(signal: number): void;
  close(): void;
}

/** Spawns children. */
export interface Spawner {
  /** Resolves once the program is executing; rejects with SPAWN_FAILED or UNSUPPORTED, leaving nothing behind. */
  spawn(launch: Launch): Promise<Child>;
  /** The system calls that a sandbox needs; undefined where children cannot inherit descriptors of any number. */
  readonly calls?: SandboxCalls;
  /** Calls the function, which starts a helper by other means that must not be mistaken for one of the children. */
  startHelper?<T>(start: () => T): T;
  /** Repeats kills now, for a program about to exit; otherwise a microtask does it. They reach processes forked meanwhile. */
  finishKills(): void;
  /** Releases the spawner's own resources. Its children are unaffected. */
  close(): void;
}
