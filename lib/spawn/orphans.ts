// Orphaned descendants that the kernel gives to this program, because it is a subreaper or PID 1: ends their zombies. What one
// gets wrong first: until its spawn is told, a child of our own looks the same.
import { reapOwn } from "./foreign-children.ts";
import type { Guard } from "./guard.ts";
import type { Libc } from "./libc.ts";
import { isMarked } from "./marks.ts";
import { ownChildren, readProcess } from "./proc.ts";
import type { Reaper } from "./reaper.ts";

/** A zombie of unknown origin may be of a child whose spawn is told soon, or of another library; by then they have taken their own. */
const STRANGER_MS = 1000;
/** Scans are merged within this time, since many exits come together. */
const SOON_MS = 20;
/** Where many processes begin and end, a scan takes long: the next one waits this many times as long, within a limit. */
const REST = 50;
const MAX_REST_MS = 100;

/** Takes in orphans beside the children that a Reaper watches. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #guard: Guard | undefined;
  /** Strangers that are zombies, by pid and start time, and since when that is known. */
  #zombies = new Map<string, number>();
  readonly #onChild = () => this.#scanSoon();
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #restMs = 0;

  /** From here on orphans come to this program. It must start no children but through this supervisor. */
  constructor(libc: Libc, reaper: Reaper, guard?: Guard) {
    this.#libc = libc;
    this.#reaper = reaper;
    this.#guard = guard;
    libc.becomeSubreaper();
    process.on("SIGCHLD", this.#onChild);
    this.#timer = setInterval(this.#onChild, STRANGER_MS).unref();
  }

  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  #scanSoon(): void {
    // After the events that have come by then: what others wait for they take first, also when we were held up.
    this.#soon ??= setTimeout(() => setImmediate(this.#scan), Math.max(SOON_MS, this.#restMs)).unref();
  }

  readonly #scan = (): void => {
    this.#soon = undefined;
    const began = performance.now();
    const before = this.#zombies;
    this.#zombies = new Map();
    for (const pid of ownChildren()) {
      if (isMarked(pid) || this.#reaper.owns(pid) || pid === this.#guard?.pid) continue;
      const entry = readProcess(pid);
      if (entry?.state !== "Z") continue;
      const identity = `${pid}@${entry.startTime}`;
      const since = before.get(identity) ?? began;
      // Who is in the session of a child of ours descends from it.
      if (this.#reaper.owns(entry.session) || began - since >= STRANGER_MS) reapOwn(this.#libc, pid);
      else this.#zombies.set(identity, since);
    }
    this.#restMs = Math.min(MAX_REST_MS, REST * (performance.now() - began));
  };
}
