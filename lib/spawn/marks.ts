// Finds whose descendant a process is, also when it has left session, parents and descriptors. Each child of ours has a number
// of its own as its limit of file locks: the kernel hands limits down at every fork, and this one has bound nothing since
// Linux 2.4.25 (getrlimit(2), RLIMIT_LOCKS).
//
// A child may leave a daemon before we hear that it was spawned, so children inherit their marks from us: ours is set before each
// spawn. Others may inherit it as well: a spawn that was on its way already, or a child that another part of this program starts in
// that moment. Both show soon after. A mark that two processes may have got identifies neither: its child gets another one. What
// the child has left behind by then belongs to no child, unless there is more that ties it to this one (`mayDescend`).
import { foreignChildren, foreignReaps } from "./foreign-children.ts";
import type { Guard } from "./guard.ts";
import type { Libc, ResourceLimits } from "./libc.ts";
import { type Before, type Birth, type Marker, type Sharers, state } from "./mark-state.ts";
import { firstChildren, readProcess } from "./proc.ts";

/** The hard limit must leave room for marks. */
const LAST = 2 ** 48;
/** With so many spawns on their way, a child that got no mark of its own is given one later. */
const STORM = 3;
const LATE_MS = 50;
/**
 * It is looked for children of other parts of the program soon after a spawn, since they can be looked for only as long as they
 * live. A look takes a while (0.1 ms), and the next one waits this many times as long, within a limit.
 */
const REST = 20;
const MAX_REST_MS = 10;

/** Which children a program starts beside those of its spawners: none, or any. */
export type OtherChildren = "none" | "any";

const { births, owners, markOf, past, earlier, unconfirmed } = state;

/** Whether this is a child of one of our spawners whose pid was not given up. */
export function isMarked(child: number): boolean {
  return markOf.has(child);
}

/** Marks the children of one spawner. */
export class Marks implements Marker {
  readonly #libc: Libc;
  readonly #own: ResourceLimits;
  readonly #isPossible: boolean;
  readonly #others: OtherChildren;
  readonly #guard: Guard | undefined;
  #look: NodeJS.Timeout | undefined;
  #restedAt = 0;
  /** Children that inherited the mark of another one, or none, with that. */
  readonly #late = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Libc, others: OtherChildren, guard?: Guard) {
    state.own ??= libc.lockLimits(0) ?? { soft: 0, hard: 0 };
    if (Number.isNaN(state.current)) state.current = state.own.soft;
    this.#libc = libc;
    this.#own = state.own;
    this.#isPossible = this.#own.hard >= LAST;
    this.#others = others;
    this.#guard = guard;
    guard?.startAside((start) => this.aside(start));
  }

  /** A child is about to be spawned. */
  expect(): Birth {
    const libc = this.#libc;
    const before = this.#others === "any" ? { reaps: foreignReaps(libc), tick: libc.ticks() } : { reaps: 0, tick: 0 };
    const birth = { mark: issue(), before };
    births.set(birth.mark, birth);
    // From here on no child inherits an earlier mark.
    this.#setOurs(birth.mark);
    return birth;
  }

  /** It was spawned, as `child`, and runs already; or could not be. */
  born(birth: Birth, child?: number): void {
    births.delete(birth.mark);
    if (births.size === 0) this.#setOurs(this.#own.soft);
    // Older ones are still on their way: they may get one that is of no child, but this one no more.
    else if (state.current === birth.mark) this.#setOurs(issue());
    if (child === undefined) return;
    const soft = this.markOf(child) ?? this.#markUnseen(birth);
    if (soft === birth.mark && !birth.isShared) return this.#inherited(child, birth);
    const isIssued = soft >= birth.mark && soft <= state.lastInherited;
    // When it has none that we know any more, it may have been each of those.
    if (isIssued) {
      unshare(soft, "spawns");
      this.#noteEarlier(child, soft, birth.before);
    } else if (state.lastInherited > birth.mark) unshareSince(birth.mark);
    this.#mark(child, isIssued ? soft : this.#own.soft);
  }

  /** Calls `start`, which starts a child that is none of ours. */
  aside<T>(start: () => T): T {
    const before = state.current;
    this.#setOurs(this.#own.soft);
    try {
      return start();
    } finally {
      this.#setOurs(before);
    }
  }

  /** The child that this process descends from, or which it is; undefined where there is none, or none any more. */
  ownerOf(pid: number): number | undefined {
    if (owners.size === 0 || pid === process.pid) return undefined;
    // Before its mark is read: it may get another one by this.
    this.#confirm();
    const mark = this.markOf(pid) as number;
    const owner = owners.get(mark);
    if (!owner) return undefined;
    // Spawns come in the order of their marks, and an older one that is not known yet may have this mark.
    const [oldestBirth = Number.POSITIVE_INFINITY] = births.keys();
    if (owner.isInherited && oldestBirth < mark) return undefined;
    return owner.child;
  }

  /**
   * Whether this process has a mark that this child and other spawns of the same moment may have got, and none else. It may be
   * a descendant of any of those.
   */
  mayDescend(pid: number, child: number): boolean {
    // Asked of every process of the system.
    if (births.size === 0 && !earlier.has(child)) return false;
    this.#confirm();
    const mark = this.markOf(pid) as number;
    if (unconfirmed.has(mark)) return false;
    return owners.get(mark)?.child === child || (earlier.get(child)?.includes(mark) ?? false);
  }

  /** The mark of a process, whichever child it is of, also of one that was forgotten; undefined where it may not be looked at. */
  markOf(pid: number): number | undefined {
    return this.#libc.lockLimits(pid)?.soft;
  }

  /** The pid of a child is given up: from now on its descendants belong to no child. Returns the marks that they may have. */
  forget(child: number): readonly number[] {
    const mark = markOf.get(child);
    const marks = [this.#late.get(child), mark, ...(past.get(child) ?? [])];
    if (mark !== undefined) owners.delete(mark);
    if (mark !== undefined) unconfirmed.delete(mark);
    markOf.delete(child);
    past.delete(child);
    earlier.delete(child);
    this.#late.delete(child);
    this.#guard?.unmark(child);
    return this.#isPossible ? (marks.filter((each) => each !== undefined && each !== this.#own.soft) as number[]) : [];
  }

  /** Gives another mark to a child and those that have its old one, which other processes may have as well. */
  remark(child: number, old: number, sharers: Sharers): void {
    owners.delete(old);
    const before = unconfirmed.get(old)?.before;
    unconfirmed.delete(old);
    if (sharers === "spawns") this.#noteEarlier(child, old, before);
    this.#mark(child, old);
  }

  #inherited(child: number, { mark, before }: Birth): void {
    this.#assign(child, mark, true);
    if (this.#others === "none") this.#tellGuard(child, mark);
    else this.#confirmSoon(mark, before);
  }

  /** `before`: the mark is not confirmed. */
  #noteEarlier(child: number, mark: number, before: Before | undefined): void {
    earlier.set(child, [...(earlier.get(child) ?? []), mark]);
    if (before && this.#others === "any") this.#confirmSoon(mark, before);
  }

  #confirmSoon(mark: number, before: Before): void {
    unconfirmed.set(mark, { before, marks: this });
    const restMs = this.#restedAt - performance.now();
    if (restMs > 0) this.#look ??= setTimeout(() => this.#confirm(), restMs).unref();
    else setImmediate(() => this.#confirm());
  }

  /** Looks which of the inherited marks a child of another part of the program may have got; from then on none can. */
  #confirm(): void {
    // A mark is handed down until its spawn is over.
    if (unconfirmed.size === 0 || ![...unconfirmed.keys()].some((mark) => !births.has(mark))) return;
    clearTimeout(this.#look);
    this.#look = undefined;
    const began = performance.now();
    for (const pid of foreignChildren(isMarked)) this.#doubtMarkOf(pid);
    const reaps = foreignReaps(this.#libc);
    for (const [mark, { before, marks }] of [...unconfirmed]) {
      if (before.reaps !== reaps) unshare(mark, "any");
      else if (!births.has(mark)) marks.confirmed(mark);
    }
    const now = performance.now();
    this.#restedAt = now + Math.min(MAX_REST_MS, REST * (now - began));
  }

  /** No other process can have this mark, and none will. */
  confirmed(mark: number): void {
    unconfirmed.delete(mark);
    const owner = owners.get(mark);
    if (owner) this.#tellGuard(owner.child, mark);
  }

  /** Another part of the program has started this child. */
  #doubtMarkOf(pid: number): void {
    const mark = this.markOf(pid);
    if (mark === undefined) {
      // It runs as another user, and may have any mark that there was since it started.
      const startTime = readProcess(pid)?.startTime ?? Number.POSITIVE_INFINITY;
      for (const [each, { before }] of [...unconfirmed]) if (before.tick <= startTime) unshare(each, "any");
    } else if (unconfirmed.has(mark)) {
      unshare(mark, "any");
      // One that was not announced yet may be a spawn of ours on its way, which is marked when it is.
      if (births.size === 0) this.#replace(pid, mark, this.#own.soft);
    }
  }

  /** The mark of a child that may not be looked at, a set-user-ID program: the one that is ours since its spawn began, if that is one. */
  #markUnseen({ mark }: Birth): number {
    return state.lastInherited === mark ? mark : Number.NaN;
  }

  #mark(child: number, old: number): void {
    const mark = state.next++;
    if (old !== this.#own.soft) past.set(child, [...(past.get(child) ?? []), old]);
    this.#assign(child, mark, false);
    this.#tellGuard(child, mark);
    if (!this.#isPossible) return;
    if (births.size < STORM) return this.#replace(child, old, mark);
    // Most children are gone by then.
    if (!this.#late.has(child)) this.#late.set(child, old);
    this.#timer ??= setTimeout(() => this.#markLate(), LATE_MS).unref();
  }

  #markLate(): void {
    this.#timer = undefined;
    for (const [child, old] of this.#late) this.#replace(child, old, markOf.get(child) as number);
    this.#late.clear();
  }

  #assign(child: number, mark: number, isInherited: boolean): void {
    owners.set(mark, { child, isInherited, marks: this });
    markOf.set(child, mark);
  }

  #tellGuard(child: number, mark: number): void {
    if (this.#isPossible) this.#guard?.mark(child, mark);
  }

  /** Changes nothing where a program has set a limit by itself. */
  #replace(pid: number, old: number, mark: number): void {
    const limits = this.#libc.lockLimits(pid);
    if (limits?.soft !== old || limits.hard !== this.#own.hard) return;
    this.#libc.limitLocks(pid, { soft: mark, hard: limits.hard });
    for (const child of firstChildren(pid)) this.#replace(child, old, mark);
  }

  #setOurs(mark: number): void {
    if (mark === state.current || !this.#isPossible) return;
    this.#libc.limitLocks(0, { soft: mark, hard: this.#own.hard });
    state.current = mark;
  }
}

/** A new mark, to be inherited. */
function issue(): number {
  state.lastInherited = state.next++;
  return state.lastInherited;
}

/** Others may have this mark as well. */
function unshare(mark: number, sharers: Sharers): void {
  const birth = births.get(mark);
  if (birth) birth.isShared = true;
  const owner = owners.get(mark);
  if (owner) owner.marks.remark(owner.child, mark, sharers);
  if (sharers === "spawns") return;
  unconfirmed.delete(mark);
  for (const [child, marks] of earlier)
    if (marks.includes(mark))
      earlier.set(
        child,
        marks.filter((each) => each !== mark),
      );
}

/** Another child may have any of the marks after this one. */
function unshareSince(mark: number): void {
  for (const later of births.keys()) if (later > mark) unshare(later, "any");
  for (const [later, { isInherited }] of [...owners]) if (isInherited && later > mark) unshare(later, "any");
}
