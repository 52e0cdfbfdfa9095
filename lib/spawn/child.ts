// What an actor knows of its child: events out, bytes in, and the few things one can do to it. How it was spawned
// (posix_spawn, child_process, node-pty) ends behind this interface.
import type { Observable } from "rxjs";
import type { Activity, KillScope, PipeHolder, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";

/** How a child ended, in the terms of wait(2): one of the two is null. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** What a child does. `ended` comes once per stream, `exited` once; output of a grandchild may follow `exited`. */
export type ChildEvent =
  | { readonly type: "output"; readonly stream: StreamName; readonly chunk: Uint8Array }
  | { readonly type: "ended"; readonly stream: StreamName }
  | ({ readonly type: "exited" } & ExitStatus);

/** The writing end of a child's stdin. One write at a time: the next begins after `done`. */
export interface ChildStdin {
  /** What this writes goes into lines, as far as that is known. */
  readonly line?: LineLimit;
  /** Calls `done` once the kernel took all bytes, or with the reason why it will not. */
  write(chunk: Uint8Array, done: (error?: Error) => void): void;
  /** Ends the input; the writes before it arrive first. */
  end(): void;
}

/** A terminal loses what is too long for its line. Whether it is, only counts once the write is next: see `StdinQueue`. */
export interface LineLimit {
  /** Why this chunk, written after all that was promised, would not arrive whole if the terminal stayed as it is now. */
  refusal(chunk: Uint8Array): ExecwireError | undefined;
  /** This chunk will be written after those that were promised before. */
  promise(chunk: Uint8Array): void;
}

/** What proves that a process belongs to a session whose leader's pid may have been reused. */
export interface SessionProof {
  /** A member that started up to this tick (see `ProcessEntry`) did so while the number was reserved. */
  readonly reservedUntil: number;
  /** Marks that the leader had (`Marks`), one of which members have that were forked later. */
  readonly marks: readonly number[];
}

/** Processes that can be signalled and looked for. */
export interface KillTarget {
  /** Sends a signal. Throws SIGNAL_FAILED when there are processes in scope and the system allows to signal none of them. */
  kill(signal: SignalName, scope: KillScope): void;
  /** Whether any process in scope is left, zombies aside. False where that cannot be known. */
  hasSurvivors(scope: KillScope): boolean;
}

/**
 * What a child that ended and was released may have left in its session: background jobs. What left the session was
 * detached on purpose and does not belong to it.
 */
export interface Leftover extends KillTarget {
  /** The pid of the child, which may have been reused since. */
  readonly pid: number;
  /** Undefined where the members are known one by one instead. */
  readonly proof: SessionProof | undefined;
}

/** A running child. Safe to `kill` at any time: its pid and group stay reserved until `release`. */
export interface Child extends KillTarget {
  readonly pid: number;
  /** Whether the pid stays its own until `release`; otherwise only until it ends. */
  readonly isPidReserved: boolean;
  readonly streams: readonly StreamName[];
  /**
   * Everything the child does; completes after the exit and the end of every stream. Reading starts with the (one)
   * subscription, so nothing is lost before it. What the child itself printed comes before `exited`, unless paused.
   */
  readonly events$: Observable<ChildEvent>;
  readonly stdin: ChildStdin | undefined;
  /** Stops reading; the child blocks once the kernel's buffer is full. */
  pause(): void;
  resume(): void;
  resize(size: TerminalSize): void;
  /** What the operating system tells of it; undefined where it does not. */
  readonly facts: Facts | undefined;
  /**
   * Gives up the pid and closes every descriptor. The streams end here if they had not. Returns what the child may have left
   * behind; undefined where that is nothing, or not known because the child still runs.
   */
  release(): Leftover | undefined;
}

/** What can be asked about a child and changes nothing. Safe at any time. */
export interface Facts {
  /** Who else holds its streams. */
  holders(): Promise<readonly PipeHolder[]>;
  activity(): Promise<Activity>;
}

/** A terminal to be made. */
export interface TtyLaunch extends TerminalSize {
  readonly echo: boolean;
  readonly raw: boolean;
}

/** All that a spawn needs, resolved: nothing is looked up or defaulted below this line. */
export interface Launch {
  /** Absolute path of the program. */
  readonly file: string;
  /** What the program sees, its own name first. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tty: TtyLaunch | undefined;
  readonly pipeStdin: boolean;
  readonly merge: boolean;
  readonly inheritFds: readonly number[];
}

/** Makes children. */
export interface Spawner {
  /** Resolves once the program was executed; rejects with SPAWN_FAILED or UNSUPPORTED, leaving nothing behind. */
  spawn(launch: Launch): Promise<Child>;
  /** Kills are repeated at the end of a job for what was forked meanwhile; this does it now, for a program that has no later. */
  finishKills(): void;
  /** Lets go of what the spawner itself holds. Its children are not touched. */
  close(): void;
}
