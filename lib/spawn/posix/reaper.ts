// Detects the exits of our own children and reaps their zombies. It never waits for "any child": that would steal the exits of
// children that other libraries in this program started (their 'exit' events would never fire).
//
// Invariants
// 1. A watched exit is reported once, and the zombie stays: pid, group and session cannot be reused.
// 2. Only `reap` reaps a zombie; its owner calls it when it will send no more signals.
// 3. While an exit is pending, the program stays alive and checks periodically: SIGCHLD alone may be missed.
import type { ExitStatus } from "../child.ts";
import { reapOwn } from "../kill/foreign-children.ts";
import type { Libc } from "./libc.ts";

/** SIGCHLDs merge, and under some hosts never arrive; this bounds how late an exit is noticed then. */
const CHECK_MS = 1000;

/** Watches the pids of our own children. */
export class Reaper {
  readonly #libc: Libc;
  readonly #watched = new Map<number, (status: ExitStatus) => void>();
  readonly #zombies = new Set<number>();
  readonly #onChild = () => this.check();
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Libc) {
    this.#libc = libc;
    process.on("SIGCHLD", this.#onChild);
  }

  /** Whether `pid` is a watched child or its zombie. */
  owns(pid: number): boolean {
    return this.#watched.has(pid) || this.#zombies.has(pid);
  }

  /** Calls back once with the exit of `pid`, possibly synchronously. */
  watch(pid: number, onExit: (status: ExitStatus) => void): void {
    this.#watched.set(pid, onExit);
    this.#timer ??= setInterval(this.#onChild, CHECK_MS);
    this.#peek(pid, onExit);
  }

  /** Checks for exits now; called on SIGCHLD and by the timer. */
  check(): void {
    // Usually there is only one zombie; to check each of a thousand running children takes a millisecond.
    for (let known = this.#watched.size; known > 0; known -= 1) {
      const pid = this.#libc.anyZombie();
      if (pid === 0) return;
      // Not watched, or kept on purpose: it hides the zombies behind it, so check all below.
      if (pid === undefined || !this.#watched.has(pid)) break;
      this.checkOne(pid);
    }
    for (const [pid, onExit] of this.#watched) this.#peek(pid, onExit);
  }

  /** Checks for the exit of one child now; called when one of its streams ends. */
  checkOne(pid: number): void {
    const onExit = this.#watched.get(pid);
    if (onExit) this.#peek(pid, onExit);
  }

  /** Reaps the zombie of `pid` and returns whether there was one. From now on the pid may be reused. */
  reap(pid: number): boolean {
    const isZombie = this.#zombies.delete(pid);
    if (isZombie) reapOwn(this.#libc, pid);
    return isZombie;
  }

  /** Stops watching: exits of children that still run will not be reported. */
  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    this.#watched.clear();
    this.#stopTimerIfIdle();
  }

  #peek(pid: number, onExit: (status: ExitStatus) => void): void {
    const status = this.#libc.peekExit(pid);
    if (!status) return;
    this.#watched.delete(pid);
    this.#zombies.add(pid);
    this.#stopTimerIfIdle();
    onExit(status);
  }

  #stopTimerIfIdle(): void {
    if (this.#watched.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
