// Reaps orphaned descendants that the kernel reparents to this program, because it is a subreaper or PID 1. Easy to get wrong:
// while its spawn is in progress, a child of our own looks like an orphan.

import type { Guard } from "../guard/guard.ts";
import { reapOwn } from "../kill/foreign-children.ts";
import { isSpawnedChild } from "../kill/marks.ts";
import { ownChildren, readProcess } from "../proc/proc.ts";
import type { Libc } from "./libc.ts";
import type { Reaper } from "./reaper.ts";

/** A zombie of unknown origin may belong to a spawn in progress or to another library: by then these have reaped their own. */
const GRACE_MS = 1000;
/** Exits within this time share one scan. */
const MERGE_MS = 20;
/** With many processes a scan is slow: the next one waits this many times as long, up to MAX_PAUSE_MS. */
const PAUSE_FACTOR = 50;
const MAX_PAUSE_MS = 100;

/** Adopts and reaps orphans; a Reaper watches our own children. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #guard: Guard | undefined;
  /** Zombies of unknown origin: when each was first seen, by pid and start time. */
  #zombies = new Map<string, number>();
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
    this.#interval = setInterval(this.#onChild, GRACE_MS).unref();
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
      const since = before.get(identity) ?? began;
      // A process in the session of one of our children descends from it.
      if (this.#reaper.owns(entry.session) || began - since >= GRACE_MS) reapOwn(this.#libc, pid);
      else this.#zombies.set(identity, since);
    }
    this.#pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began));
  };
}
