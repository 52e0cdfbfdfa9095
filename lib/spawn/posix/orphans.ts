// Reaps orphaned descendants that the kernel reparents to this program, because it is a subreaper or PID 1. Easy to get wrong:
// while its spawn is in progress, a child of our own looks like an orphan.

import type { Guard } from "../guard/guard.ts";
import { reapOwn } from "../kill/foreign-children.ts";
import { isSpawnedChild, spawnsInProgress } from "../kill/marks.ts";
import { ownChildren, readProcess } from "../proc/proc.ts";
import type { Libc } from "./libc.ts";
import type { Reaper } from "./reaper.ts";

/** A zombie of unknown origin may belong to another library, which reaps its own in the turn after their exit. */
const GRACE_MS = 20;
/** SIGCHLDs merge, and under some hosts never arrive; this bounds how late an orphan is noticed then. */
const CHECK_MS = 1000;
/** Exits within this time share one scan. */
const MERGE_MS = 20;
/** With many processes a scan is slow: the next one waits this many times as long, up to MAX_PAUSE_MS. */
const PAUSE_FACTOR = 5;
const MAX_PAUSE_MS = 15;

/** A zombie of unknown origin, when it was first seen. */
interface Unknown {
  readonly since: number;
  /** Whether a spawn that was in progress then still is: the zombie may be its child. */
  readonly mayBeSpawned: () => boolean;
}

/** Adopts and reaps orphans; a Reaper watches our own children. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #guard: Guard | undefined;
  /** By pid and start time. */
  #zombies = new Map<string, Unknown>();
  readonly #onChild = () => this.#scanSoon();
  readonly #interval: NodeJS.Timeout;
  #scanTimer: NodeJS.Timeout | undefined;
  #pauseMs = 0;

  /** From now on this program adopts orphans. It must start all its children through this supervisor. */
  constructor(libc: Libc, reaper: Reaper, guard?: Guard) {
    this.#libc = libc;
    this.#reaper = reaper;
    this.#guard = guard;
    libc.becomeSubreaper();
    process.on("SIGCHLD", this.#onChild);
    this.#interval = setInterval(this.#onChild, CHECK_MS).unref();
  }

  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    clearInterval(this.#interval);
    clearTimeout(this.#scanTimer);
  }

  #scanSoon(): void {
    // After the pending events, so that other libraries reap their own children first, even if the loop was blocked.
    this.#scanTimer ??= setTimeout(() => setImmediate(this.#scan), Math.max(MERGE_MS, this.#pauseMs)).unref();
  }

  readonly #scan = (): void => {
    this.#scanTimer = undefined;
    const began = performance.now();
    const before = this.#zombies;
    this.#zombies = new Map();
    for (const pid of ownChildren()) {
      if (isSpawnedChild(pid) || this.#reaper.owns(pid) || pid === this.#guard?.pid) continue;
      const entry = readProcess(pid);
      if (entry?.state !== "Z") continue;
      const identity = `${pid}@${entry.startTime}`;
      const zombie = before.get(identity) ?? { since: began, mayBeSpawned: spawnsInProgress() };
      const isOrphan = began - zombie.since >= GRACE_MS && !zombie.mayBeSpawned();
      // A process in the session of one of our children descends from it.
      if (this.#reaper.owns(entry.session) || isOrphan) reapOwn(this.#libc, pid);
      else this.#zombies.set(identity, zombie);
    }
    this.#pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began));
    if (this.#zombies.size > 0) this.#scanSoon();
  };
}
