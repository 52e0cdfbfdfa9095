// Finds whose descendant a process is, also when it has left session, parents and descriptors. Each child of ours has a number
// of its own as its limit of file locks: the kernel hands limits down at every fork, and this one has bound nothing since
// Linux 2.4.25 (getrlimit(2), RLIMIT_LOCKS).
//
// A child may leave a daemon before we hear that it was spawned, so children inherit their marks from us: ours is set before each
// spawn. Others may inherit it as well: a spawn that was on its way already, or a child that another part of this program starts in
// that moment. Both show soon after. A mark that two processes may have got identifies neither: its child gets another one. What
// the child has left behind by then belongs to no child, unless there is more that ties it to this one (`mayDescend`).
import { randomInt } from "node:crypto";
import { foreignChildren, foreignReaps } from "./foreign-children.ts";
import type { Guard } from "./guard.ts";
import type { Libc, ResourceLimits } from "./libc.ts";
import { firstChildren } from "./proc.ts";

/** Marks have 13 digits or more, so that no real limit looks like one, and begin where two programs do not meet. */
const FIRST = 2 ** 40;
const FIRST_BELOW = 2 ** 47;
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

/** A child that is being spawned. */
export interface Birth {
  readonly mark: number;
  /** As they were before the spawn. */
  readonly foreignReaps: number;
  /** Another process may have inherited this mark. */
  isShared?: boolean;
}

/** The child that has a mark. */
interface Owner {
  readonly child: number;
  /** From this program, so that a child whose spawn began before may have it as well. */
  readonly isInherited: boolean;
  readonly marks: Marks;
}

/** Which children a program starts beside those of its spawners: none, or any. */
export type OtherChildren = "none" | "any";

// Whatever spawners there are in this program, its limit is one.
const births = new Map<number, Birth>();
const owners = new Map<number, Owner>();
const markOf = new Map<number, number>();
/** Marks that a child and others of our spawns may have had before, by child. */
const earlierMarks = new Map<number, number[]>();
let next = randomInt(FIRST, FIRST_BELOW);
let lastInherited = 0;
/** Our limits as they were, and the one there is now. */
let own: ResourceLimits | undefined;
let current = Number.NaN;

/** Whether this is a child of one of our spawners whose pid was not given up. */
export function isMarked(child: number): boolean {
  return markOf.has(child);
}

/** Marks the children of one spawner. */
export class Marks {
  readonly #libc: Libc;
  readonly #own: ResourceLimits;
  readonly #isPossible: boolean;
  readonly #others: OtherChildren;
  readonly #guard: Guard | undefined;
  /** Inherited marks that a child of another part of the program may have, with `foreignReaps` as it was before the spawn. */
  readonly #unconfirmed = new Map<number, number>();
  #look: NodeJS.Timeout | undefined;
  /** When the next look may be. */
  #restedAt = 0;
  /** Children that inherited the mark of another one, or none, with that. */
  readonly #late = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Libc, others: OtherChildren, guard?: Guard) {
    own ??= libc.lockLimits(0) ?? { soft: 0, hard: 0 };
    if (Number.isNaN(current)) current = own.soft;
    this.#libc = libc;
    this.#own = own;
    this.#isPossible = own.hard >= LAST;
    this.#others = others;
    this.#guard = guard;
    guard?.startAside((start) => this.aside(start));
  }

  /** A child is about to be spawned. */
  expect(): Birth {
    const reaps = this.#others === "any" ? foreignReaps(this.#libc) : 0;
    const birth = { mark: this.#issue(), foreignReaps: reaps };
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
    else if (current === birth.mark) this.#setOurs(this.#issue());
    if (child === undefined) return;
    const { soft = Number.NaN } = this.#libc.lockLimits(child) ?? {};
    if (soft === birth.mark && !birth.isShared) return this.#inherited(child, birth);
    const isIssued = soft >= birth.mark && soft <= lastInherited;
    // When it has none that we know any more, it may have been each of those.
    if (isIssued) {
      unshare(soft, "spawns");
      noteEarlier(child, soft);
    } else if (lastInherited > birth.mark) unshareSince(birth.mark);
    this.#mark(child, isIssued ? soft : this.#own.soft);
  }

  /** Calls `start`, which starts a child that is none of ours. */
  aside<T>(start: () => T): T {
    const before = current;
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
    const mark = this.markOf(pid) as number;
    const owner = owners.get(mark);
    if (!owner) return undefined;
    owner.marks.#confirm();
    // Spawns come in the order of their marks, and an older one that is not known yet may have this mark.
    const [oldestBirth = Number.POSITIVE_INFINITY] = births.keys();
    if (owner.isInherited && oldestBirth < mark) return undefined;
    return owners.get(mark)?.child;
  }

  /**
   * Whether this process has a mark that this child and other spawns of the same moment may have got, and none else. It may be
   * a descendant of any of those.
   */
  mayDescend(pid: number, child: number): boolean {
    const earlier = earlierMarks.get(child) ?? [];
    // Asked of every process of the system.
    if (earlier.length === 0 && births.size === 0) return false;
    const mark = this.markOf(pid) as number;
    const owner = owners.get(mark);
    if (owner) owner.marks.#confirm();
    return owners.get(mark)?.child === child || earlier.includes(mark);
  }

  /** The mark of a process, whichever child it is of, also of one that was forgotten. */
  markOf(pid: number): number | undefined {
    return this.#libc.lockLimits(pid)?.soft;
  }

  /** The pid of a child is given up: from now on its descendants belong to no child. Returns the mark that they have. */
  forget(child: number): number | undefined {
    const mark = markOf.get(child) as number;
    owners.delete(mark);
    markOf.delete(child);
    earlierMarks.delete(child);
    this.#unconfirmed.delete(mark);
    const isLate = this.#late.delete(child);
    this.#guard?.unmark(child);
    return isLate || !this.#isPossible ? undefined : mark;
  }

  /** Gives another mark to a child and those that have its old one, which other processes may have as well. */
  remark(child: number, old: number, others: Sharers): void {
    owners.delete(old);
    this.#unconfirmed.delete(old);
    if (others === "spawns") noteEarlier(child, old);
    this.#mark(child, old);
  }

  #inherited(child: number, { mark, foreignReaps: before }: Birth): void {
    this.#assign(child, mark, true);
    if (this.#others === "none") return this.#tellGuard(child, mark);
    this.#unconfirmed.set(mark, before);
    const restMs = this.#restedAt - performance.now();
    if (restMs > 0) this.#look ??= setTimeout(() => this.#confirm(), restMs).unref();
    else setImmediate(() => this.#confirm());
  }

  /** Looks which of the inherited marks a child of another part of the program may have got; from then on none can. */
  #confirm(): void {
    if (this.#unconfirmed.size === 0) return;
    clearTimeout(this.#look);
    this.#look = undefined;
    const began = performance.now();
    for (const pid of foreignChildren(isMarked)) {
      const mark = this.markOf(pid) as number;
      if (!this.#unconfirmed.has(mark)) continue;
      unshare(mark, "any");
      // One that was not announced yet may be a spawn of ours on its way, which is marked when it is.
      if (births.size === 0) this.#replace(pid, mark, this.#own.soft);
    }
    const reaps = foreignReaps(this.#libc);
    for (const [mark, before] of [...this.#unconfirmed]) if (before !== reaps) unshare(mark, "any");
    for (const mark of this.#unconfirmed.keys()) this.#tellGuard(owners.get(mark)?.child as number, mark);
    this.#unconfirmed.clear();
    const now = performance.now();
    this.#restedAt = now + Math.min(MAX_REST_MS, REST * (now - began));
  }

  #mark(child: number, old: number): void {
    const mark = next++;
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

  /** A new mark, to be inherited. */
  #issue(): number {
    lastInherited = next++;
    return lastInherited;
  }

  #setOurs(mark: number): void {
    if (mark === current || !this.#isPossible) return;
    this.#libc.limitLocks(0, { soft: mark, hard: this.#own.hard });
    current = mark;
  }
}

/** Which processes may have a mark beside its child. */
type Sharers = "spawns" | "any";

function noteEarlier(child: number, mark: number): void {
  earlierMarks.set(child, [...(earlierMarks.get(child) ?? []), mark]);
}

/** Others may have this mark as well. */
function unshare(mark: number, others: Sharers): void {
  const birth = births.get(mark);
  if (birth) birth.isShared = true;
  const owner = owners.get(mark);
  if (owner) owner.marks.remark(owner.child, mark, others);
}

/** Another child may have any of the marks after this one. */
function unshareSince(mark: number): void {
  for (const later of births.keys()) if (later > mark) unshare(later, "any");
  for (const [later, { isInherited }] of [...owners]) if (isInherited && later > mark) unshare(later, "any");
}
