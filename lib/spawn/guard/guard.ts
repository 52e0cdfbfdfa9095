// Kills our processes when this program is killed with SIGKILL and cannot do so itself. A small process, the guard, reads a pipe
// whose other end is ours; the kernel closes it however we exit. Each process is recorded in the same turn in which its pid
// becomes known, so only a child whose spawn was still pending can survive.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { ExecwireError } from "../../errors.ts";
import type { SessionProof } from "../child.ts";
import { hasProc, readProcess } from "../proc/proc.ts";
import { GUARD_SCRIPT } from "./guard-script.ts";
import { GuardTable } from "./guard-table.ts";
import { probeDescriptors } from "./probe-descriptors.ts";

/** Delay before a guard that was killed is restarted; a new process restarts it at once. */
const RESTART_MS = 1000;
/** A process still running after this delay is recorded again with its start time; most exit before and save that lookup. */
const REWRITE_MS = 1000;

/** What happens to the processes when their supervisor is killed. */
export type OnSupervisorDeath = "kill" | "keep";

/** How a process is recorded. */
export interface GuardedProcess {
  /** Whether its pid stays reserved until `forget`; otherwise its start time is recorded at once. Default true. */
  readonly isReserved?: boolean;
}

/** How the guard is set up; the defaults work on every Linux. */
export interface GuardOptions {
  /** Runs the script. Default `/bin/sh`. */
  readonly shell?: string;
  /** Where its table may be created: see `GuardTable`. */
  readonly folders?: readonly string[];
}

/** The guard of one supervisor. It is started with the first process, and restarted when it was killed. */
export class Guard {
  readonly #onError: (error: unknown) => void;
  readonly #shell: string;
  readonly #folders: readonly string[] | undefined;
  /** The pids it must kill. */
  readonly #guarded = new Set<number>();
  /** Marks of guarded processes, and of processes about to be added. */
  readonly #marks = new Map<number, number>();
  /** Pids whose row must be rewritten: the start time is missing, the mark is new, or the last write failed. */
  readonly #unfinishedRows = new Set<number>();
  #table: GuardTable | undefined;
  #process: ChildProcess | undefined;
  #startThrough = <T>(start: () => T): T => start();
  #restartTimer: NodeJS.Timeout | undefined;
  #rewriteTimer: NodeJS.Timeout | undefined;
  #isReported = false;
  #isClosed = false;

  /** Calls `onError` once if no guard can be started; the processes run all the same. Throws UNSUPPORTED outside Linux. */
  constructor(onError: (error: unknown) => void, { shell = "/bin/sh", folders }: GuardOptions = {}) {
    if (!hasProc()) {
      throw new ExecwireError("UNSUPPORTED", `onSupervisorDeath "kill" needs Linux and its /proc`, {
        data: { what: "onSupervisorDeath" },
      });
    }
    this.#onError = onError;
    this.#shell = shell;
    this.#folders = folders;
  }

  /** The guard's pid. It is a child of this program but not a supervised process. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Sets how the guard is started: a spawner keeps it from being mistaken for one of its own children. */
  startThrough(wrapper: <T>(start: () => T) => T): void {
    this.#startThrough = wrapper;
  }

  /** From now on this process, its session and their descendants do not outlive us. */
  add(pid: number, { isReserved = true }: GuardedProcess = {}): void {
    // When PID 1 of a namespace exits, the kernel kills all its processes.
    if (this.#isClosed || process.pid === 1) return;
    this.#guarded.add(pid);
    const isWritten = this.#record(pid, isReserved ? undefined : startTimeOf(pid));
    if (isReserved || !isWritten) this.#rewriteSoon(pid);
  }

  /** From now on every process with `mark` (`Marks`) counts as a descendant of this one, which is added before or after. */
  mark(pid: number, mark: number): void {
    this.#marks.set(pid, mark);
    if (this.#guarded.has(pid)) this.#rewriteSoon(pid);
  }

  /** From now on the mark of this process identifies no descendants. */
  unmark(pid: number): void {
    this.#marks.delete(pid);
  }

  /** From now on the pid may be reused. Only the rest of its session, identified by this proof, does not outlive us. */
  recordLeftover(pid: number, { reservedUntil, marks }: SessionProof): void {
    if (!this.#guarded.has(pid)) return;
    this.#unfinishedRows.delete(pid);
    this.#try(() => this.#table?.record(pid, { endedAt: reservedUntil }, marks[0]));
  }

  /** No longer guards the process, its session or its descendants: the pid may be reused. */
  forget(pid: number): void {
    if (!this.#guarded.delete(pid)) return;
    this.#unfinishedRows.delete(pid);
    this.#try(() => this.#table?.erase(pid));
  }

  /** Forgets all processes and ends the guard. */
  close(): void {
    for (const pid of this.#guarded) this.forget(pid);
    this.#isClosed = true;
    clearTimeout(this.#restartTimer);
    clearTimeout(this.#rewriteTimer);
    this.#try(() => this.#table?.close());
    this.#table = undefined;
    this.#process?.stdin?.end();
  }

  /** Writes the row of a process; returns whether that worked. */
  #record(pid: number, startTime?: number): boolean {
    return this.#try(() => {
      this.#table ??= new GuardTable(this.#folders);
      this.#table.record(pid, startTime, this.#marks.get(pid));
      if (!this.#process) this.#start(this.#table);
    });
  }

  #rewriteSoon(pid: number): void {
    this.#unfinishedRows.add(pid);
    this.#rewriteTimer ??= setTimeout(() => {
      this.#rewriteTimer = undefined;
      const pids = [...this.#unfinishedRows];
      this.#unfinishedRows.clear();
      for (const each of pids) if (!this.#record(each, startTimeOf(each))) this.#rewriteSoon(each);
    }, REWRITE_MS).unref();
  }

  #start(table: GuardTable): void {
    clearTimeout(this.#restartTimer);
    probeDescriptors();
    // In its own session, or a signal from our terminal would end it too; with no descriptor of ours that it could hold open.
    const guard = this.#startThrough(() =>
      spawn(this.#shell, ["-c", GUARD_SCRIPT, "execwire-guard"], {
        cwd: "/",
        env: {},
        detached: true,
        stdio: ["pipe", "ignore", "ignore", table.fd],
      }),
    );
    guard.on("error", (error) => this.#report(error));
    if (guard.pid === undefined) return;
    this.#process = guard;
    guard.on("exit", (code) => this.#onExit(code));
    // EPIPE, when the guard was killed.
    guard.stdin?.on("error", () => undefined);
    guard.unref();
    (guard.stdin as Socket).unref();
  }

  #onExit(code: number | null): void {
    this.#process = undefined;
    if (this.#isClosed) return;
    // The script never exits before us, so this shell cannot run it.
    if (code !== null) return this.#report(new Error(`the guard ended with exit code ${code}`));
    this.#restartTimer = setTimeout(() => this.#restart(), RESTART_MS).unref();
  }

  #restart(): void {
    const table = this.#table;
    if (!this.#process && table && this.#guarded.size > 0) this.#try(() => this.#start(table));
  }

  /** Returns whether `act` succeeded; the first failure is reported. */
  #try(act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #report(cause: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const message = `no guard can be started, so a SIGKILL of this program leaves its processes running: ${String(cause)}`;
    const data = { kind: "failed", path: this.#shell };
    // In a turn of its own: an error that it throws must not look like a failed start of the process being added.
    setImmediate(this.#onError, new ExecwireError("SPAWN_FAILED", message, { data, cause }));
  }
}

/** 0 if the process is gone. */
function startTimeOf(pid: number): number {
  return readProcess(pid)?.startTime ?? 0;
}
