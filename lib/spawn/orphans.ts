// Orphaned descendants that the kernel gives to this program, because it is a subreaper or PID 1: ends their zombies, and
// remembers whose they are, so that a tree kill finds a daemon whose parents are gone.
import type { Guard } from "./guard.ts";
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
  /** The children of ours of which one is its ancestor; where it is one, that is certain. */
  readonly ancestors: readonly number[];
}

/** Adopts orphans for the children that a Reaper watches. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #guard: Guard | undefined;
  readonly #orphans = new Map<number, Orphan>();
  readonly #onChild = () => this.#scanSoon();
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  /** Of our children, as of this scan. */
  #startTimes: readonly (readonly [pid: number, startTime: number])[] | undefined;

  /** From here on orphans come to this program. It must start no children but through this supervisor. */
  constructor(libc: Libc, reaper: Reaper, guard?: Guard) {
    this.#libc = libc;
    this.#reaper = reaper;
    this.#guard = guard;
    libc.becomeSubreaper();
    process.on("SIGCHLD", this.#onChild);
    this.#timer = setInterval(() => this.scan(), STRANGER_MS).unref();
  }

  /** Living orphans that descend from the child `ancestor`. */
  of(ancestor: number): ProcessEntry[] {
    this.scan();
    return [...this.#orphans].flatMap(([pid, orphan]) => {
      const isCertain = orphan.ancestors.length === 1 && orphan.ancestors[0] === ancestor;
      const entry = isCertain ? readProcess(pid) : undefined;
      return entry?.startTime === orphan.startTime && entry.state !== "Z" ? [entry] : [];
    });
  }

  /** Takes stock of our unknown children: newcomers are attributed, zombies ended. */
  scan(): void {
    const now = Date.now();
    const present = new Set(ownChildren());
    this.#startTimes = undefined;
    for (const pid of this.#orphans.keys()) if (!present.has(pid)) this.#delete(pid);
    for (const pid of present) {
      if (this.#reaper.owns(pid) || pid === this.#guard?.pid) continue;
      const entry = readProcess(pid);
      if (!entry) continue;
      let orphan = this.#orphans.get(pid);
      if (orphan?.startTime !== entry.startTime) {
        this.#delete(pid);
        orphan = { startTime: entry.startTime, seenAt: now, ancestors: this.#ancestorsOf(entry) };
        this.#orphans.set(pid, orphan);
        this.#protect(entry, orphan);
      }
      if (entry.state !== "Z") continue;
      if (this.#reaper.owns(entry.session) || now - orphan.seenAt >= STRANGER_MS) {
        this.#libc.reap(pid);
        this.#delete(pid);
      }
    }
  }

  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /** By session where it kept it; else all that were there before it, so it is certain only where that is a single one. */
  #ancestorsOf(orphan: ProcessEntry): readonly number[] {
    if (this.#reaper.owns(orphan.session)) return [orphan.session];
    const sibling = this.#orphans.get(orphan.session);
    if (sibling && sibling.ancestors.length > 0) return sibling.ancestors;
    // Read once a scan: many orphans of many children come together.
    this.#startTimes ??= this.#reaper
      .pids()
      .map((pid) => [pid, readProcess(pid)?.startTime ?? Number.POSITIVE_INFINITY] as const);
    return this.#startTimes.flatMap(([pid, startTime]) => (startTime <= orphan.startTime ? [pid] : []));
  }

  /** Has it ended with us, as long as all that may have started it are ours: whichever it was. */
  #protect({ pid, session, state }: ProcessEntry, { ancestors }: Orphan): void {
    const isFoundAnyway = this.#reaper.owns(session);
    if (ancestors.length > 0 && state !== "Z" && !isFoundAnyway) this.#guard?.add(pid, ancestors);
  }

  #delete(pid: number): void {
    if (this.#orphans.delete(pid)) this.#guard?.forget(pid);
  }

  #scanSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.scan();
    }, SOON_MS).unref();
  }
}
