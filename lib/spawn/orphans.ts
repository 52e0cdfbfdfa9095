// Orphaned descendants that the kernel gives to this program, because it is a subreaper or PID 1: ends their zombies, and
// remembers whose they are, so that a tree kill finds a daemon whose parents are gone. What one gets wrong first: our own
// children look the same until their spawn is told, and who made an orphan may have ended before it is seen.
import type { Guard } from "./guard.ts";
import type { Libc } from "./libc.ts";
import { clockTicks, isNewborn, ownChildren, type ProcessEntry, readProcess, TICK_MS } from "./proc.ts";
import type { Reaper } from "./reaper.ts";

/** A zombie of unknown origin may belong to another library of this program; by then that one has taken its own. */
const STRANGER_MS = 1000;
/** Scans are merged within this time, since many exits come together. */
const SOON_MS = 20;
/** Where many processes begin and end, a scan takes long: the next one waits this many times as long, within a limit. */
const REST = 50;
const MAX_REST_MS = 100;
/** Among ancestors: one that ended, whose number may be another's. */
const GONE = 0;

interface Orphan {
  readonly startTime: number;
  readonly seenAt: number;
  /** The children of ours of which one is its ancestor; where it is one, that is certain. */
  readonly ancestors: readonly number[];
  /** When it was first seen as a zombie, as `performance` counts: what began later is not of its making. */
  readonly deadAt: number | undefined;
}

/** A child of ours from before its spawn; in milliseconds, as `performance` counts them. */
export interface Life {
  readonly since: number;
}

/** When a process began, as exactly as its start time tells. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Adopts orphans for the children that a Reaper watches. */
export class Orphans {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #guard: Guard | undefined;
  readonly #session = readProcess(process.pid)?.session;
  readonly #orphans = new Map<number, Orphan>();
  /** Those whose spawn is on its way. */
  readonly #births = new Set<Life>();
  /** Who may yet turn out to be a child of ours. */
  #doubtful = new Map<number, Pick<Orphan, "startTime" | "seenAt"> & { readonly began: Span }>();
  /** Children that ended, as long as not all that they may have left was seen. */
  #ended: (Life & { readonly until: number })[] = [];
  readonly #onChild = () => this.#scanSoon();
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #restMs = 0;
  /** This moment on the clock of start times, as of this scan. */
  #ticks: { readonly now: number; readonly at: number } | undefined;
  /** Of our children, since they were first asked for: while a pid is reserved its start time stays the same. */
  readonly #startTimes = new Map<number, number>();

  /** From here on orphans come to this program. It must start no children but through this supervisor. */
  constructor(libc: Libc, reaper: Reaper, guard?: Guard) {
    this.#libc = libc;
    this.#reaper = reaper;
    this.#guard = guard;
    libc.becomeSubreaper();
    process.on("SIGCHLD", this.#onChild);
    this.#timer = setInterval(() => this.scan(), STRANGER_MS).unref();
  }

  /** A child is about to be spawned. */
  expectChild(): Life {
    const life = { since: performance.now() };
    this.#births.add(life);
    return life;
  }

  /** The reaper has it now, or there is none. */
  born(life: Life): void {
    this.#births.delete(life);
  }

  /** The pid of a child is given up: from now on nothing that it left is anybody's. */
  forget(pid: number, life: Life): void {
    const now = performance.now();
    this.#ended.push({ since: life.since, until: now });
    this.#startTimes.delete(pid);
    for (const [orphanPid, orphan] of this.#orphans) {
      if (!orphan.ancestors.includes(pid)) continue;
      const ancestors = orphan.ancestors.map((ancestor) => (ancestor === pid ? GONE : ancestor));
      // What a kill of the tree has ended is nobody's maker from this moment on.
      const deadAt = orphan.deadAt ?? (readProcess(orphanPid)?.state === "Z" ? now : undefined);
      this.#orphans.set(orphanPid, { ...orphan, ancestors, deadAt });
    }
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
    const present = ownChildren().filter((pid) => !this.#reaper.owns(pid) && pid !== this.#guard?.pid);
    this.#ticks = undefined;
    // The oldest first, since it may have made the others.
    const entries = present.flatMap((pid) => readProcess(pid) ?? []).sort((a, b) => a.startTime - b.startTime);
    const doubtful = this.#doubtful;
    this.#doubtful = new Map();
    // Also one that is no longer there may have left a newcomer.
    const known = [...this.#orphans.values()];
    const seen = new Set(present);
    for (const pid of this.#orphans.keys()) if (!seen.has(pid)) this.#delete(pid);
    for (const entry of entries) {
      const { pid, startTime } = entry;
      let orphan = this.#orphans.get(pid);
      if (orphan?.startTime !== startTime) {
        this.#delete(pid);
        if (this.#mayBeOurs(entry, doubtful.get(pid), now)) continue;
        orphan = { startTime, seenAt: now, ancestors: this.#ancestorsOf(entry, known), deadAt: undefined };
        known.push(orphan);
        this.#orphans.set(pid, orphan);
        this.#protect(entry, orphan);
      }
      if (entry.state !== "Z") continue;
      if (orphan.deadAt === undefined) this.#orphans.set(pid, { ...orphan, deadAt: performance.now() });
      if (this.#reaper.owns(entry.session) || now - orphan.seenAt >= STRANGER_MS) {
        this.#libc.reap(pid);
        this.#delete(pid);
      }
    }
    const oldest = Math.min(...[...this.#doubtful.values()].map(({ began }) => began.from));
    this.#ended = this.#ended.filter(({ until }) => until >= oldest);
  }

  close(): void {
    process.removeListener("SIGCHLD", this.#onChild);
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /** Whether it is to be looked at again before it is called an orphan: a spawn that began before it did may be its own. */
  #mayBeOurs(
    { pid, session, startTime }: ProcessEntry,
    doubt: Pick<Orphan, "startTime" | "seenAt"> | undefined,
    now: number,
  ) {
    // Ours lead their own session, once they have it.
    if (this.#births.size === 0 || (session !== pid && session !== this.#session)) return false;
    const began = this.#beginningOf(startTime);
    if (![...this.#births].some(({ since }) => since <= began.to)) return false;
    if (isNewborn(pid)) return true;
    // A spawn that hangs must not keep orphans from being taken in.
    const seenAt = doubt?.startTime === startTime ? doubt.seenAt : now;
    if (now - seenAt >= STRANGER_MS) return false;
    this.#doubtful.set(pid, { startTime, seenAt, began });
    return true;
  }

  /** By session where it kept it; else all that were there before it, so it is certain only where that is a single one. */
  #ancestorsOf({ session, startTime }: ProcessEntry, known: readonly Orphan[]): readonly number[] {
    if (this.#reaper.owns(session)) return [session];
    const sibling = this.#orphans.get(session);
    if (sibling && sibling.ancestors.length > 0) return sibling.ancestors;
    const running = this.#reaper.pids().filter((pid) => this.#startOf(pid) <= startTime);
    const { from } = this.#beginningOf(startTime);
    const mayHaveMadeIt = (other: Orphan) => other.startTime <= startTime && (other.deadAt ?? from) >= from;
    const isOfGone =
      this.#hasEndedSince(startTime) || known.some((other) => other.ancestors.includes(GONE) && mayHaveMadeIt(other));
    return isOfGone ? [...running, GONE] : running;
  }

  #startOf(child: number): number {
    const known = this.#startTimes.get(child) ?? readProcess(child)?.startTime ?? Number.POSITIVE_INFINITY;
    this.#startTimes.set(child, known);
    return known;
  }

  /** Whether a child that is gone lived when this began. */
  #hasEndedSince(startTime: number): boolean {
    if (this.#ended.length === 0) return false;
    const { from, to } = this.#beginningOf(startTime);
    return this.#ended.some(({ since, until }) => since <= to && from <= until);
  }

  /** Both clocks are read at about the same time, and one of them counts in ticks. */
  #beginningOf(startTime: number): Span {
    this.#ticks ??= { now: clockTicks(), at: performance.now() };
    const { now, at } = this.#ticks;
    return { from: at - (now - startTime + 1) * TICK_MS, to: at - (now - startTime - 1) * TICK_MS };
  }

  /** Has it ended with us, as long as all that may have started it are ours: whichever it was. */
  #protect({ pid, session, state }: ProcessEntry, { ancestors }: Orphan): void {
    const isFoundAnyway = this.#reaper.owns(session);
    if (ancestors.length > 0 && state !== "Z" && !isFoundAnyway) this.#guard?.add(pid, { owners: ancestors });
  }

  #delete(pid: number): void {
    if (this.#orphans.delete(pid)) this.#guard?.forget(pid);
  }

  #scanSoon(): void {
    this.#soon ??= setTimeout(this.#scanNow, Math.max(SOON_MS, this.#restMs)).unref();
  }

  readonly #scanNow = (): void => {
    this.#soon = undefined;
    const began = performance.now();
    this.scan();
    this.#restMs = Math.min(MAX_REST_MS, REST * (performance.now() - began));
  };
}
