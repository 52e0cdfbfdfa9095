// Ends our processes when this program is killed with SIGKILL and can no longer do so itself: a small process, the guard,
// holds the other end of a pipe, and the kernel closes ours however we end. Each process is recorded for it in the same turn
// in which we learn its pid, so what remains is a child that was not yet known to us when we died.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { ExecwireError } from "../errors.ts";
import { GUARD_SCRIPT } from "./guard-script.ts";
import { GuardTable } from "./guard-table.ts";
import { probeDescriptors } from "./probe-descriptors.ts";
import { hasProc, readProcess } from "./proc.ts";

/** How long until a guard that somebody ended is made again, unless a new process wants one before. */
const AGAIN_MS = 1000;

/** What becomes of the processes when their supervisor is killed. */
export type OnSupervisorDeath = "kill" | "keep";

/** What there is to say of a process. */
export interface GuardedProcess {
  /** It is ours only through these: until one of them is forgotten. */
  readonly owners?: readonly number[];
  /** Whether its pid stays its own until it is forgotten. Otherwise the start time tells it from who gets the number. Default true. */
  readonly isReserved?: boolean;
}

/** The guard of one supervisor. It is started with the first process, and again when somebody ended it. */
export class Guard {
  readonly #onError: (error: unknown) => void;
  readonly #shell: string;
  /** Of those that are recorded, the ones that are ours only through others. */
  readonly #owners = new Map<number, readonly number[]>();
  #table: GuardTable | undefined;
  #process: ChildProcess | undefined;
  #again: NodeJS.Timeout | undefined;
  #isReported = false;
  #isClosed = false;

  /** Tells `onError` once when there can be no guard; the processes run all the same. Throws UNSUPPORTED outside Linux. */
  constructor(onError: (error: unknown) => void, shell = "/bin/sh") {
    if (!hasProc()) {
      throw new ExecwireError("UNSUPPORTED", `onSupervisorDeath "kill" needs Linux and its /proc`, {
        data: { what: "onSupervisorDeath" },
      });
    }
    this.#onError = onError;
    this.#shell = shell;
  }

  /** Its pid. It is a child of this program, but none of those that are supervised. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** From now on this process, its session and their descendants do not outlive us. */
  add(pid: number, { owners = [], isReserved = true }: GuardedProcess = {}): void {
    // The kernel ends everybody with the first process of a namespace.
    if (this.#isClosed || process.pid === 1 || this.#table?.has(pid)) return;
    if (!owners.every((owner) => this.#table?.has(owner))) return;
    try {
      this.#table ??= new GuardTable();
      this.#table.record(pid, isReserved ? undefined : (readProcess(pid)?.startTime ?? 0));
      if (owners.length > 0) this.#owners.set(pid, owners);
      if (!this.#process) this.#start(this.#table);
    } catch (error) {
      this.#report(error);
    }
  }

  /** From now on its pid may belong to somebody else, and what it detached is on its own. */
  forget(pid: number): void {
    if (!this.#table?.erase(pid)) return;
    this.#owners.delete(pid);
    // Those live on, and are on their own from here on.
    for (const [orphan, owners] of this.#owners) if (owners.includes(pid)) this.forget(orphan);
  }

  /** Lets everybody go, and the guard. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#table?.close();
    this.#process?.stdin?.end();
  }

  #start(table: GuardTable): void {
    clearTimeout(this.#again);
    probeDescriptors();
    // A session of its own, or what ends ours from a terminal ends it too; nothing of ours that it could hold open.
    const guard = spawn(this.#shell, ["-c", GUARD_SCRIPT, "execwire-guard"], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore", table.fd],
    });
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
    if (this.#process || !this.#table?.size) return;
    try {
      this.#start(this.#table);
    } catch (error) {
      this.#report(error);
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
