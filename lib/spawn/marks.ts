// Tells whose descendant a process is, also when it has left session, parents and descriptors. Each child of ours has a number
// of its own as its limit of file locks: the kernel hands limits down at every fork, and this one has bound nothing since
// Linux 2.4.25 (getrlimit(2), RLIMIT_LOCKS).
//
// A child may leave a daemon before we hear that it was spawned. So where a program asks for it, children inherit their marks
// from us: ours is set before each spawn. What one gets wrong first: a spawn that was on its way already may inherit it as well.
// That shows when both are known; until then the mark leads nowhere, and where two had it, to nobody. A child that got none of
// its own is given one soon, and what it has left by then is nobody's.
import { randomInt } from "node:crypto";
import type { Guard } from "./guard.ts";
import type { Libc, ResourceLimits } from "./libc.ts";
import { firstChildren } from "./proc.ts";

/** Marks have 13 digits or more, so that nobody's real limit looks like one, and begin where two programs do not meet. */
const FIRST = 2 ** 40;
const FIRST_BELOW = 2 ** 47;
const LAST = 2 ** 48;
/** With so many spawns on their way, a child that got no mark of its own is given one later. */
const STORM = 3;
const LATE_MS = 50;

/** A child that is being spawned. */
export interface Birth {
  readonly mark: number;
  /** Somebody else may have inherited this mark. */
  isShared?: boolean;
}

/** Whose mark it is. */
interface Owner {
  readonly child: number;
  /** From this program, so that a child whose spawn began before may have it as well. */
  readonly isInherited: boolean;
  readonly marks: Marks;
}

// Whatever spawners there are in this program, its limit is one.
const births = new Map<number, Birth>();
const owners = new Map<number, Owner>();
const markOf = new Map<number, number>();
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
  readonly #isInherited: boolean;
  readonly #guard: Guard | undefined;
  /** Children that inherited the mark of another one, or none, with that. */
  readonly #late = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `isInherited`: the program starts no children but by spawners, so that nobody else gets what its limit is for a moment. */
  constructor(libc: Libc, isInherited: boolean, guard?: Guard) {
    own ??= libc.lockLimits(0) ?? { soft: 0, hard: 0 };
    if (Number.isNaN(current)) current = own.soft;
    this.#libc = libc;
    this.#own = own;
    this.#isPossible = own.hard >= LAST;
    this.#isInherited = isInherited && this.#isPossible;
    this.#guard = guard;
    guard?.startAside((start) => this.aside(start));
  }

  /** A child is about to be spawned. */
  expect(): Birth {
    const birth = { mark: next++ };
    births.set(birth.mark, birth);
    if (this.#isInherited) lastInherited = birth.mark;
    // From here on nobody inherits an earlier mark.
    this.#setOurs(this.#isInherited ? birth.mark : this.#own.soft);
    return birth;
  }

  /** It was spawned, as `child`, and runs already; or could not be. */
  born(birth: Birth, child?: number): void {
    births.delete(birth.mark);
    if (births.size === 0) this.#setOurs(this.#own.soft);
    if (child === undefined) return;
    const { soft = Number.NaN } = this.#libc.lockLimits(child) ?? {};
    if (soft === birth.mark && !birth.isShared) return this.#assign(child, soft, true);
    const isIssued = soft >= birth.mark && soft <= lastInherited;
    // When it has none that we know any more, it may have been each of those.
    if (isIssued) unshare(soft);
    else if (lastInherited > birth.mark) unshareSince(birth.mark);
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

  /** The child whose descendant this is, or which it is; undefined for everybody else's, and for those of who was forgotten. */
  ownerOf(pid: number): number | undefined {
    if (owners.size === 0 || pid === process.pid) return undefined;
    const mark = this.#libc.lockLimits(pid)?.soft as number;
    const owner = owners.get(mark);
    if (!owner) return undefined;
    // Spawns come in the order of their marks, and an older one that is not known yet may have this mark.
    const [oldestBirth = Number.POSITIVE_INFINITY] = births.keys();
    return owner.isInherited && oldestBirth < mark ? undefined : owner.child;
  }

  /** The pid of a child is given up: from now on its descendants are nobody's. */
  forget(child: number): void {
    owners.delete(markOf.get(child) as number);
    markOf.delete(child);
    this.#late.delete(child);
    this.#guard?.unmark(child);
  }

  /** Gives another mark to a child and those that have its old one. */
  remark(child: number, old: number): void {
    owners.delete(old);
    this.#mark(child, old);
  }

  #mark(child: number, old: number): void {
    const mark = next++;
    this.#assign(child, mark, false);
    if (!this.#isPossible) return;
    if (!this.#isInherited || births.size < STORM) return this.#replace(child, old, mark);
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
    if (this.#isPossible) this.#guard?.mark(child, mark);
  }

  /** Leaves alone what somebody has set himself. */
  #replace(pid: number, old: number, mark: number): void {
    const limits = this.#libc.lockLimits(pid);
    if (limits?.soft !== old || limits.hard !== this.#own.hard) return;
    this.#libc.limitLocks(pid, { soft: mark, hard: limits.hard });
    for (const child of firstChildren(pid)) this.#replace(child, old, mark);
  }

  #setOurs(mark: number): void {
    if (mark === current) return;
    this.#libc.limitLocks(0, { soft: mark, hard: this.#own.hard });
    current = mark;
  }
}

/** Another child has this mark as well. */
function unshare(mark: number): void {
  const birth = births.get(mark);
  if (birth) birth.isShared = true;
  const owner = owners.get(mark);
  if (owner) owner.marks.remark(owner.child, mark);
}

/** Another child may have any of the marks after this one. */
function unshareSince(mark: number): void {
  for (const later of births.keys()) if (later > mark) unshare(later);
  for (const [later, { isInherited }] of [...owners]) if (isInherited && later > mark) unshare(later);
}
