// Finds the child that a process descends from, even if it has left the session, its parents are gone and it holds no common
// descriptor. Each child has a mark: a unique number as its limit of file locks. The kernel copies limits at every fork, and this
// limit has had no effect since Linux 2.4.25 (getrlimit(2), RLIMIT_LOCKS).
//
// A child may leave a daemon before its spawn returns. So children inherit their marks: our own limit is set before each spawn.
// Two other kinds of process may inherit it too: a child whose spawn was already in progress, and a child that another part of
// this program starts at the same time. Both are detected soon after. A mark that two children may share identifies neither,
// so the child gets another one. Daemons that it left before then belong to no child, unless other evidence links them to it
// (`mayDescend`).

import type { Guard } from "../guard/guard.ts";
import type { Libc } from "../posix/libc.ts";
import type { ResourceLimits } from "../posix/rlimit.ts";
import { firstChildren, readProcess } from "../proc/proc.ts";
import { foreignChildren, foreignReaps } from "./foreign-children.ts";
import { type Baseline, type Marker, type PendingSpawn, type Sharers, state } from "./mark-state.ts";

/** The hard limit must leave room for marks. */
const LAST = 2 ** 48;
/** With this many spawns in progress, replacing a mark is deferred by DEFER_MS: most children have exited by then. */
const BUSY_SPAWNS = 3;
const DEFER_MS = 50;
/**
 * Children of other parts of the program are searched for soon after a spawn, since they are visible only while they run. A
 * search takes about 0.1 ms; the next one waits this many times as long, up to MAX_PAUSE_MS.
 */
const PAUSE_FACTOR = 20;
const MAX_PAUSE_MS = 10;

/** Whether the program also starts children without our spawners: none, or any. */
export type OtherChildren = "none" | "any";

const { pendingSpawns, owners, markOf, formerMarks, formerSpawnMarks, unconfirmed } = state;

/** Whether this is a child of one of our spawners whose pid was not released. */
export function isSpawnedChild(child: number): boolean {
  return markOf.has(child);
}

/** Returns a function for later: whether one of the spawns that are in progress now still is. */
export function spawnsInProgress(): () => boolean {
  const last = state.lastInherited;
  return () => {
    // The map is in the order of marks.
    const [oldest = Number.POSITIVE_INFINITY] = pendingSpawns.keys();
    return oldest <= last;
  };
}

/** Marks the children of one spawner. */
export class Marks implements Marker {
  readonly #libc: Libc;
  readonly #originalLimits: ResourceLimits;
  readonly #isPossible: boolean;
  readonly #others: OtherChildren;
  readonly #guard: Guard | undefined;
  #confirmTimer: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  /** Children that still have an old limit, which is to be replaced: that limit, by pid. */
  readonly #deferred = new Map<number, number>();
  #deferTimer: NodeJS.Timeout | undefined;

  constructor(libc: Libc, others: OtherChildren, guard?: Guard) {
    state.originalLimits ??= libc.lockLimits(0) ?? { soft: 0, hard: 0 };
    if (Number.isNaN(state.currentLimit)) state.currentLimit = state.originalLimits.soft;
    this.#libc = libc;
    this.#originalLimits = state.originalLimits;
    this.#isPossible = this.#originalLimits.hard >= LAST;
    this.#others = others;
    this.#guard = guard;
    guard?.startThrough((start) => this.withoutMark(start));
  }

  /** Call before each spawn: sets the mark that the child will inherit. */
  beginSpawn(): PendingSpawn {
    const libc = this.#libc;
    const before = this.#others === "any" ? { reaps: foreignReaps(libc), tick: libc.ticks() } : { reaps: 0, tick: 0 };
    const pending = { mark: issue(), before };
    pendingSpawns.set(pending.mark, pending);
    this.#setOwnLimit(pending.mark);
    return pending;
  }

  /** Call after each spawn, with the pid of the child, which runs by now; without it, the spawn failed. */
  endSpawn(pending: PendingSpawn, child?: number): void {
    pendingSpawns.delete(pending.mark);
    if (pendingSpawns.size === 0) this.#setOwnLimit(this.#originalLimits.soft);
    // Older spawns are in progress: they may inherit an unused mark, but not this one.
    else if (state.currentLimit === pending.mark) this.#setOwnLimit(issue());
    if (child === undefined) return;
    const soft = this.markOf(child) ?? this.#guessUnreadableMark(pending);
    if (soft === pending.mark && !pending.isShared) return this.#recordInherited(child, pending);
    const isIssued = soft >= pending.mark && soft <= state.lastInherited;
    // Otherwise the inherited mark is unknown: it may be any mark issued since.
    if (isIssued) {
      treatAsShared(soft, "spawns");
      this.#addFormerSpawnMark(child, soft, pending.before);
    } else if (state.lastInherited > pending.mark) treatAsSharedSince(pending.mark);
    this.#giveMark(child, isIssued ? soft : this.#originalLimits.soft);
  }

  /** Calls `start`, which starts a child that must not inherit a mark. */
  withoutMark<T>(start: () => T): T {
    const before = state.currentLimit;
    this.#setOwnLimit(this.#originalLimits.soft);
    try {
      return start();
    } finally {
      this.#setOwnLimit(before);
    }
  }

  /** The child that this process is or descends from; undefined if there is none, or it was forgotten. */
  ownerOf(pid: number): number | undefined {
    if (owners.size === 0 || pid === process.pid) return undefined;
    // Before the mark is read, since this may replace it.
    this.#confirm();
    const mark = this.markOf(pid) as number;
    const owner = owners.get(mark);
    if (!owner) return undefined;
    // The map is in the order of marks. An older spawn still in progress may have this mark too.
    const [oldestPending = Number.POSITIVE_INFINITY] = pendingSpawns.keys();
    if (owner.isInherited && oldestPending < mark) return undefined;
    return owner.child;
  }

  /**
   * Whether this process has a mark that only this child and children of simultaneous spawns may have inherited. It descends
   * from one of them, but which one is not known.
   */
  mayDescend(pid: number, child: number): boolean {
    // Fast path: called for every process of the system.
    if (pendingSpawns.size === 0 && !formerSpawnMarks.has(child)) return false;
    this.#confirm();
    const mark = this.markOf(pid) as number;
    if (unconfirmed.has(mark)) return false;
    return owners.get(mark)?.child === child || (formerSpawnMarks.get(child)?.includes(mark) ?? false);
  }

  /** The soft limit of a process, which may be a mark of any child, even a forgotten one; undefined if not readable. */
  markOf(pid: number): number | undefined {
    return this.#libc.lockLimits(pid)?.soft;
  }

  /** The pid of a child is released: from now on its descendants belong to no child. Returns the marks that they may have. */
  forget(child: number): readonly number[] {
    const mark = markOf.get(child);
    const marks = [this.#deferred.get(child), mark, ...(formerMarks.get(child) ?? [])];
    if (mark !== undefined) owners.delete(mark);
    if (mark !== undefined) unconfirmed.delete(mark);
    markOf.delete(child);
    formerMarks.delete(child);
    formerSpawnMarks.delete(child);
    this.#deferred.delete(child);
    this.#guard?.unmark(child);
    return this.#isPossible
      ? (marks.filter((each) => each !== undefined && each !== this.#originalLimits.soft) as number[])
      : [];
  }

  replaceMark(child: number, old: number, sharers: Sharers): void {
    owners.delete(old);
    const before = unconfirmed.get(old)?.before;
    unconfirmed.delete(old);
    if (sharers === "spawns") this.#addFormerSpawnMark(child, old, before);
    this.#giveMark(child, old);
  }

  #recordInherited(child: number, { mark, before }: PendingSpawn): void {
    this.#assign(child, mark, true);
    if (this.#others === "none") this.#notifyGuard(child, mark);
    else this.#confirmSoon(mark, before);
  }

  /** With `before`, the mark is not confirmed. */
  #addFormerSpawnMark(child: number, mark: number, before: Baseline | undefined): void {
    formerSpawnMarks.set(child, [...(formerSpawnMarks.get(child) ?? []), mark]);
    if (before && this.#others === "any") this.#confirmSoon(mark, before);
  }

  #confirmSoon(mark: number, before: Baseline): void {
    unconfirmed.set(mark, { before, marks: this });
    const pauseMs = this.#pausedUntil - performance.now();
    if (pauseMs > 0) this.#confirmTimer ??= setTimeout(() => this.#confirm(), pauseMs).unref();
    else setImmediate(() => this.#confirm());
  }

  /** Finds inherited marks that a child of another part of the program may have too; the other marks are confirmed. */
  #confirm(): void {
    // While its spawn is in progress, a mark can still be inherited.
    if (unconfirmed.size === 0 || ![...unconfirmed.keys()].some((mark) => !pendingSpawns.has(mark))) return;
    clearTimeout(this.#confirmTimer);
    this.#confirmTimer = undefined;
    const began = performance.now();
    for (const pid of foreignChildren(isSpawnedChild)) this.#checkForeignChild(pid);
    const reaps = foreignReaps(this.#libc);
    for (const [mark, { before, marks }] of [...unconfirmed]) {
      if (before.reaps !== reaps) treatAsShared(mark, "any");
      else if (!pendingSpawns.has(mark)) marks.confirmed(mark);
    }
    const now = performance.now();
    this.#pausedUntil = now + Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (now - began));
  }

  confirmed(mark: number): void {
    unconfirmed.delete(mark);
    const owner = owners.get(mark);
    if (owner) this.#notifyGuard(owner.child, mark);
  }

  /** `pid` is a child that another part of the program has started. */
  #checkForeignChild(pid: number): void {
    const mark = this.markOf(pid);
    if (mark === undefined) {
      // It runs as another user, and may have inherited any mark issued before it started.
      const startTime = readProcess(pid)?.startTime ?? Number.POSITIVE_INFINITY;
      for (const [each, { before }] of [...unconfirmed]) if (before.tick <= startTime) treatAsShared(each, "any");
    } else if (unconfirmed.has(mark)) {
      treatAsShared(mark, "any");
      // With a spawn in progress this may be its child, which `endSpawn` gives a mark.
      if (pendingSpawns.size === 0) this.#replaceInTree(pid, mark, this.#originalLimits.soft);
    }
  }

  /** The mark of a child whose limit is not readable (a set-user-ID program): known only if no other mark was issued since. */
  #guessUnreadableMark({ mark }: PendingSpawn): number {
    return state.lastInherited === mark ? mark : Number.NaN;
  }

  #giveMark(child: number, old: number): void {
    const mark = state.nextMark++;
    if (old !== this.#originalLimits.soft) formerMarks.set(child, [...(formerMarks.get(child) ?? []), old]);
    this.#assign(child, mark, false);
    this.#notifyGuard(child, mark);
    if (!this.#isPossible) return;
    if (pendingSpawns.size < BUSY_SPAWNS) return this.#replaceInTree(child, old, mark);
    if (!this.#deferred.has(child)) this.#deferred.set(child, old);
    this.#deferTimer ??= setTimeout(() => this.#markDeferred(), DEFER_MS).unref();
  }

  #markDeferred(): void {
    this.#deferTimer = undefined;
    for (const [child, old] of this.#deferred) this.#replaceInTree(child, old, markOf.get(child) as number);
    this.#deferred.clear();
  }

  #assign(child: number, mark: number, isInherited: boolean): void {
    owners.set(mark, { child, isInherited, marks: this });
    markOf.set(child, mark);
  }

  #notifyGuard(child: number, mark: number): void {
    if (this.#isPossible) this.#guard?.mark(child, mark);
  }

  /** For a process and its descendants. A limit that a program has set itself stays. */
  #replaceInTree(pid: number, old: number, mark: number): void {
    const limits = this.#libc.lockLimits(pid);
    if (limits?.soft !== old || limits.hard !== this.#originalLimits.hard) return;
    this.#libc.limitLocks(pid, { soft: mark, hard: limits.hard });
    for (const child of firstChildren(pid)) this.#replaceInTree(child, old, mark);
  }

  #setOwnLimit(mark: number): void {
    if (mark === state.currentLimit || !this.#isPossible) return;
    this.#libc.limitLocks(0, { soft: mark, hard: this.#originalLimits.hard });
    state.currentLimit = mark;
  }
}

/** Issues a new mark for inheritance. */
function issue(): number {
  state.lastInherited = state.nextMark++;
  return state.lastInherited;
}

/** Called when another process may have this mark too: its child gets another one. */
function treatAsShared(mark: number, sharers: Sharers): void {
  const pending = pendingSpawns.get(mark);
  if (pending) pending.isShared = true;
  const owner = owners.get(mark);
  if (owner) owner.marks.replaceMark(owner.child, mark, sharers);
  if (sharers === "spawns") return;
  unconfirmed.delete(mark);
  for (const [child, marks] of formerSpawnMarks)
    if (marks.includes(mark))
      formerSpawnMarks.set(
        child,
        marks.filter((each) => each !== mark),
      );
}

/** The same for every mark issued after this one. */
function treatAsSharedSince(mark: number): void {
  for (const later of pendingSpawns.keys()) if (later > mark) treatAsShared(later, "any");
  for (const [later, { isInherited }] of [...owners]) if (isInherited && later > mark) treatAsShared(later, "any");
}
