// Orphaned descendants that the kernel gives to this program, because it is a subreaper or PID 1: ends their zombies, and
// remembers whose they are, so that a tree kill finds a daemon whose parents are gone.
import type { Libc } from "./libc.ts";
import { ownChildren, type ProcessEntry, readProcess } from "./proc.ts";
import type { Reaper } from "./reaper.ts";

/** A zombie of unknown origin may belong to another library of this program; by then that one has taken its own. */
const STRANGER_MS = 1000;
/** Scans are merged within this time, since many exits come together. */
const SOON_MS = 20;

interface Orphan {
  readonly startTime: number;
  readonly seenAt: number;
  /** The child of ours that it descends from, where that is certain. */
  readonly ancestor: number | undefined;
}

/** Adopts orphans for the children that a Reaper watches. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #orphans = new Map<number, Orphan>();
  readonly #onChild = () => this.#scanSoon();
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;

  /** From here on orphans come to this program. It must start no children but through this supervisor. */
  constructor(libc: Libc, reaper: Reaper) {
    this.#libc = libc;
    this.#reaper = reaper;
    libc.becomeSubreaper();
    process.on("SIGCHLD", this.#onChild);
    this.#timer = setInterval(() => this.scan(), STRANGER_MS).unref();
  }

  /** Living orphans that descend from the child `ancestor`. */
  of(ancestor: number): ProcessEntry[] {
    this.scan();
    return [...this.#orphans].flatMap(([pid, orphan]) => {
      const entry = orphan.ancestor === ancestor ? readProcess(pid) : undefined;
      return entry?.startTime === orphan.startTime && entry.state !== "Z" ? [entry] : [];
    });
  }

  /** Takes stock of our unknown children: newcomers are attributed, zombies ended. */
  scan(): void {
    const now = Date.now();
    const present = new Set(ownChildren());
    for (const pid of this.#orphans.keys()) if (!present.has(pid)) this.#orphans.delete(pid);
    for (const pid of present) {
      if (this.#reaper.owns(pid)) continue;
      const entry = readProcess(pid);
      if (!entry) continue;
      let orphan = this.#orphans.get(pid);
      if (orphan?.startTime !== entry.startTime) {
        orphan = { startTime: entry.startTime, seenAt: now, ancestor: this.#ancestorOf(entry) };
        this.#orphans.set(pid, orphan);
      }
      if (entry.state !== "Z") continue;
      if (this.#reaper.owns(entry.session) || now - orphan.seenAt >= STRANGER_MS) {
        this.#libc.reap(pid);
        this.#orphans.delete(pid);
      }
    }
  }

  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /** By session where it kept it; else it is certain only when a single child of ours was there before it. */
  #ancestorOf(orphan: ProcessEntry): number | undefined {
    if (this.#reaper.owns(orphan.session)) return orphan.session;
    const sibling = this.#orphans.get(orphan.session)?.ancestor;
    if (sibling !== undefined) return sibling;
    const older = this.#reaper
      .pids()
      .filter((pid) => (readProcess(pid)?.startTime ?? Number.POSITIVE_INFINITY) <= orphan.startTime);
    return older.length === 1 ? older[0] : undefined;
  }

  #scanSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.scan();
    }, SOON_MS).unref();
  }
}
