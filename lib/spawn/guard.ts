// Ends our processes when this program is killed with SIGKILL and can no longer do so itself: a small process, the guard,
// holds the other end of a pipe, and the kernel closes ours however we end. Each process is recorded for it in the same turn
// in which we learn its pid, so what remains is a child that was not yet known to us when we died.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { ExecwireError } from "../errors.ts";
import type { SessionProof } from "./child.ts";
import { GUARD_SCRIPT } from "./guard-script.ts";
import { GuardTable } from "./guard-table.ts";
import { probeDescriptors } from "./probe-descriptors.ts";
import { hasProc, readProcess } from "./proc.ts";

/** How long until a guard that somebody ended is made again, unless a new process wants one before. */
const AGAIN_MS = 1000;
/** Who is still there after this long is recorded with its start time: for most processes it need not be looked up. */
const SETTLE_MS = 1000;

/** What becomes of the processes when their supervisor is killed. */
export type OnSupervisorDeath = "kill" | "keep";

/** What there is to say of a process. */
export interface GuardedProcess {
  /** Whether its pid stays its own until it is forgotten; otherwise its start time is recorded at once. Default true. */
  readonly isReserved?: boolean;
}

/** What a guard is made of; the defaults are right for every Linux. */
export interface GuardOptions {
  /** Runs the script. Default `/bin/sh`. */
  readonly shell?: string;
  /** Where its table may lie: see `GuardTable`. */
  readonly folders?: readonly string[];
}

/** The guard of one supervisor. It is started with the first process, and again when somebody ended it. */
export class Guard {
  readonly #onError: (error: unknown) => void;
  readonly #shell: string;
  readonly #folders: readonly string[] | undefined;
  /** Whom it is to end. */
  readonly #guarded = new Set<number>();
  /** Of these and of those that are added soon. */
  readonly #marks = new Map<number, number>();
  /** Of those, the ones whose rows are to be written once more: without a start time so far, or not to be written just now. */
  readonly #unsettled = new Set<number>();
  #table: GuardTable | undefined;
  #process: ChildProcess | undefined;
  #aside = <T>(start: () => T): T => start();
  #again: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #isReported = false;
  #isClosed = false;

  /** Tells `onError` once when there can be no guard; the processes run all the same. Throws UNSUPPORTED outside Linux. */
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

  /** Its pid. It is a child of this program, but none of those that are supervised. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The guard is none of the children of a spawner: that one says how to start it beside them. */
  startAside(aside: <T>(start: () => T) => T): void {
    this.#aside = aside;
  }

  /** From now on this process, its session and their descendants do not outlive us. */
  add(pid: number, { isReserved = true }: GuardedProcess = {}): void {
    // The kernel ends everybody with the first process of a namespace.
    if (this.#isClosed || process.pid === 1) return;
    this.#guarded.add(pid);
    const isWritten = this.#record(pid, isReserved ? undefined : startTimeOf(pid));
    if (isReserved || !isWritten) this.#settleSoon(pid);
  }

  /** From now on whoever has `mark` (`Marks`) is a descendant of this process, which is added before or after. */
  mark(pid: number, mark: number): void {
    this.#marks.set(pid, mark);
    // Its row is there already.
    if (this.#guarded.has(pid)) this.#settleSoon(pid);
  }

  /** From now on nobody who has the mark of this process is its descendant. */
  unmark(pid: number): void {
    this.#marks.delete(pid);
  }

  /** Its pid may be reused from now on; only what is left of its session does not outlive us, by this proof. */
  leave(pid: number, { reservedUntil, marks }: SessionProof): void {
    if (!this.#guarded.has(pid)) return;
    this.#unsettled.delete(pid);
    this.#try(() => this.#table?.record(pid, { endedAt: reservedUntil }, marks[0]));
  }

  /** Nothing of it is left, or is ours to end: its pid may be reused, and what it detached is on its own. */
  forget(pid: number): void {
    if (!this.#guarded.delete(pid)) return;
    this.#unsettled.delete(pid);
    this.#try(() => this.#table?.erase(pid));
  }

  /** Lets everybody go, and the guard. */
  close(): void {
    for (const pid of this.#guarded) this.forget(pid);
    this.#isClosed = true;
    clearTimeout(this.#again);
    clearTimeout(this.#settling);
    this.#try(() => this.#table?.close());
    this.#table = undefined;
    this.#process?.stdin?.end();
  }

  /** Whether it could be written that this process is to be ended. */
  #record(pid: number, startTime?: number): boolean {
    return this.#try(() => {
      this.#table ??= new GuardTable(this.#folders);
      this.#table.record(pid, startTime, this.#marks.get(pid));
      if (!this.#process) this.#start(this.#table);
    });
  }

  #settleSoon(pid: number): void {
    this.#unsettled.add(pid);
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      const pids = [...this.#unsettled];
      this.#unsettled.clear();
      for (const each of pids) if (!this.#record(each, startTimeOf(each))) this.#settleSoon(each);
    }, SETTLE_MS).unref();
  }

  #start(table: GuardTable): void {
    clearTimeout(this.#again);
    probeDescriptors();
    // A session of its own, or what ends ours from a terminal ends it too; nothing of ours that it could hold open.
    const guard = this.#aside(() =>
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
    // It ended before us.
    guard.stdin?.on("error", () => undefined);
    guard.unref();
    (guard.stdin as Socket).unref();
  }

  #onExit(code: number | null): void {
    this.#process = undefined;
    if (this.#isClosed) return;
    // By itself it ends only after us: this shell cannot do it.
    if (code !== null) return this.#report(new Error(`it ended with exit code ${code}`));
    this.#again = setTimeout(() => this.#startAgain(), AGAIN_MS).unref();
  }

  #startAgain(): void {
    const table = this.#table;
    if (!this.#process && table && this.#guarded.size > 0) this.#try(() => this.#start(table));
  }

  /** Whether it went well; otherwise the first who does not is told of. */
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
    // In a turn of its own: what it throws must not look like a failed start of the process that wanted the guard.
    setImmediate(this.#onError, new ExecwireError("SPAWN_FAILED", message, { data, cause }));
  }
}

/** 0 when it is gone already. */
function startTimeOf(pid: number): number {
  return readProcess(pid)?.startTime ?? 0;
}
