// Ends our processes when this program is killed with SIGKILL and can no longer do so itself: a small process, the guard,
// holds the other end of a pipe, and the kernel closes ours however we end. It is told of each process in the same turn in
// which we learn its pid, so what remains is a child that was not yet known to us when we died.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { ExecwireError } from "../errors.ts";
import { GUARD_SCRIPT } from "./guard-script.ts";
import { probeDescriptors } from "./probe-descriptors.ts";
import { readProcess } from "./proc.ts";

/** How long until a guard that somebody ended is made again, unless a new process wants one before. */
const AGAIN_MS = 1000;

/** How long what was forgotten waits for something else to tell. */
const FORGET_MS = 1000;

/** What becomes of the processes when their supervisor is killed. */
export type OnSupervisorDeath = "kill" | "keep";

/** Whether a guard can do its work here: it finds processes in /proc. */
export function canGuard(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/stat");
}

/** The guard of one supervisor. It is started with the first process, and again when somebody ended it. */
export class Guard {
  readonly #onError: (error: unknown) => void;
  readonly #shell: string;
  /** Whom it is to end, with their start times: a number alone may belong to somebody else by then. */
  readonly #recorded = new Map<number, number>();
  /** Of those, the ones that are ours only through others. */
  readonly #owners = new Map<number, readonly number[]>();
  /** Lines that the guard has not been told. */
  readonly #forgotten: string[] = [];
  #soon: NodeJS.Timeout | undefined;
  #process: ChildProcess | undefined;
  #again: NodeJS.Timeout | undefined;
  #isReported = false;
  #isClosed = false;

  /** Tells `onError` once when there can be no guard; the processes run all the same. Throws UNSUPPORTED outside Linux. */
  constructor(onError: (error: unknown) => void, shell = "/bin/sh") {
    if (!canGuard()) {
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

  /** From now on this process, its session and their descendants do not outlive us; with `owners` until one of those is forgotten. */
  add(pid: number, owners: readonly number[] = []): void {
    // The kernel ends everybody with the first process of a namespace.
    if (this.#isClosed || process.pid === 1 || this.#recorded.has(pid)) return;
    if (!owners.every((owner) => this.#recorded.has(owner))) return;
    this.#recorded.set(pid, readProcess(pid)?.startTime ?? 0);
    if (owners.length > 0) this.#owners.set(pid, owners);
    if (this.#process) this.#tell([pid]);
    else this.#start();
  }

  /** From now on its pid may belong to somebody else, and what it detached is on its own. */
  forget(pid: number): void {
    if (!this.#recorded.delete(pid)) return;
    this.#owners.delete(pid);
    // Told with the next one: until then its start time says that the number is another's, and each line wakes the guard.
    this.#forgotten.push(`- ${pid}\n`);
    this.#soon ??= setTimeout(() => this.#tell([]), FORGET_MS).unref();
    const owned = [...this.#owners].filter(([, owners]) => owners.includes(pid));
    for (const [orphan] of owned) this.forget(orphan);
    // Those live on, and are on their own from here on.
    if (owned.length > 0) this.#tell([]);
  }

  /** Lets everybody go, and the guard. */
  close(): void {
    for (const pid of [...this.#recorded.keys()]) this.forget(pid);
    this.#tell([]);
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#process?.stdin?.end();
  }

  #tell(pids: Iterable<number>): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const lines = [...pids].map((pid) => `+ ${pid} ${this.#recorded.get(pid)}\n`);
    this.#process?.stdin?.write(this.#forgotten.splice(0).concat(lines).join(""));
  }

  #start(): void {
    clearTimeout(this.#again);
    try {
      probeDescriptors();
      // A session of its own, or what ends ours from a terminal ends it too; nothing of ours that it could hold open.
      const guard = spawn(this.#shell, ["-c", GUARD_SCRIPT, "execwire-guard"], {
        cwd: "/",
        env: {},
        detached: true,
        stdio: ["pipe", "ignore", "ignore"],
      });
      guard.on("error", (error) => this.#report(error));
      if (guard.pid === undefined) return;
      this.#process = guard;
      guard.on("exit", (code) => this.#onExit(code));
      // What cannot be written is told to the next one.
      guard.stdin.on("error", () => undefined);
      this.#forgotten.length = 0;
      guard.unref();
      (guard.stdin as Socket).unref();
      this.#tell(this.#recorded.keys());
    } catch (error) {
      this.#report(error);
    }
  }

  #onExit(code: number | null): void {
    this.#process = undefined;
    if (this.#isClosed) return;
    // By itself it ends only after us: this shell cannot do it.
    if (code !== null) return this.#report(new Error(`it ended with exit code ${code}`));
    this.#again = setTimeout(() => {
      if (!this.#process && this.#recorded.size > 0) this.#start();
    }, AGAIN_MS).unref();
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
