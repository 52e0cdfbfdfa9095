// Learns the exits of our own children and ends their zombies. "Any child" is only looked at, never waited for: that would
// steal the exits of children that other libraries in this program started (their 'exit' events would never fire).
//
// Invariants
// 1. A watched exit is reported once, with the zombie left in place: pid, group and session cannot be reused.
// 2. A zombie is ended only by `reap`, which its owner calls when it will send no signal any more.
// 3. While an exit is unknown the program stays alive, and looks again by itself: SIGCHLD alone may be missed.
import type { ExitStatus } from "./child.ts";
import { reapOwn } from "./foreign-children.ts";
import type { Libc } from "./libc.ts";

/** Signals merge, and under some hosts never arrive; this bounds how late an exit can then be noticed. */
const LOOK_AGAIN_MS = 1000;

/** Watches child pids of this program. */
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

  /** Whether `pid` is one of ours that was not reaped yet. */
  owns(pid: number): boolean {
    return this.#watched.has(pid) || this.#zombies.has(pid);
  }

  /** Calls back once with the exit of `pid`, possibly at once. */
  watch(pid: number, onExit: (status: ExitStatus) => void): void {
    this.#watched.set(pid, onExit);
    this.#timer ??= setInterval(this.#onChild, LOOK_AGAIN_MS);
    this.#look(pid, onExit);
  }

  /** Looks for exits now; called on SIGCHLD, when a stream ends, and by the timer. */
  check(): void {
    // One that ended is mostly the only zombie there is; to ask for each of a thousand that run takes a millisecond.
    for (let known = this.#watched.size; known > 0; known -= 1) {
      const pid = this.#libc.anyZombie();
      if (pid === 0) return;
      // Somebody else's, or kept: it stands before those that may be behind it.
      if (pid === undefined || !this.#watched.has(pid)) break;
      this.checkOne(pid);
    }
    for (const [pid, onExit] of this.#watched) this.#look(pid, onExit);
  }

  /** Looks whether this one ended. */
  checkOne(pid: number): void {
    const onExit = this.#watched.get(pid);
    if (onExit) this.#look(pid, onExit);
  }

  /** Ends the zombie of `pid`, and returns whether there was one. From here on the number may belong to another process. */
  reap(pid: number): boolean {
    const isZombie = this.#zombies.delete(pid);
    if (isZombie) reapOwn(this.#libc, pid);
    return isZombie;
  }

  /** Stops watching; the exits of what still runs will not be reported. */
  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    this.#watched.clear();
    this.#rest();
  }

  #look(pid: number, onExit: (status: ExitStatus) => void): void {
    const status = this.#libc.peekExit(pid);
    if (!status) return;
    this.#watched.delete(pid);
    this.#zombies.add(pid);
    this.#rest();
    onExit(status);
  }

  #rest(): void {
    if (this.#watched.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
