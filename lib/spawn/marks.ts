// Tells whose descendant a process is, also when it has left session, parents and descriptors. Each child of ours has a number
// of its own as its limit of file locks: the kernel hands limits down at every fork, and this one has bound nothing since
// Linux 2.4.25 (getrlimit(2), RLIMIT_LOCKS).
//
// Where all children of this program are ours they inherit their marks from us, since they may leave a daemon before we hear
// that they were spawned. A child that got the mark of another one, or none, is given one when it is known; what it has left by
// then is nobody's.
import { randomInt } from "node:crypto";
import type { Libc, ResourceLimits } from "./libc.ts";
import { firstChildren } from "./proc.ts";

/** Marks have 13 digits or more, so that nobody's real limit looks like one, and begin where two programs do not meet. */
const FIRST = 2 ** 40;
const FIRST_BELOW = 2 ** 47;
const LAST = 2 ** 48;

/** A child that is being spawned. */
export interface Birth {
  readonly mark: number;
  /** Another child was found to have inherited this mark. */
  isShared?: boolean;
}

/** Whose mark it is. */
interface Owner {
  readonly child: number;
  /** From this program, so that a child which was on its way before may have it as well. */
  readonly isInherited: boolean;
}

/** Of all spawners of this program, by their marks, the oldest first: what they have in common is its limit. */
const births = new Map<number, Birth>();
let next = randomInt(FIRST, FIRST_BELOW);
/** Its limits as they were before the first of them. */
let limits: ResourceLimits | undefined;

/** The marks of the children of one spawner. */
export class Marks {
  readonly #libc: Libc;
  readonly #own: ResourceLimits;
  readonly #isPossible: boolean;
  readonly #isInherited: boolean;
  readonly #owners = new Map<number, Owner>();
  readonly #marks = new Map<number, number>();

  /** `isInherited`: this program starts no children but through this spawner, so that all inherit what it has for a moment. */
  constructor(libc: Libc, isInherited: boolean) {
    this.#libc = libc;
    limits ??= libc.lockLimits(0) ?? { soft: 0, hard: 0 };
    this.#own = limits;
    this.#isPossible = limits.hard >= LAST;
    this.#isInherited = isInherited && this.#isPossible;
  }

  /** A child is about to be spawned. */
  expect(): Birth {
    const birth = { mark: next++ };
    births.set(birth.mark, birth);
    if (this.#isInherited) this.#limit(0, birth.mark);
    return birth;
  }

  /** It was spawned, as `child`, and runs already; or could not be. */
  born(birth: Birth, child?: number): void {
    births.delete(birth.mark);
    if (this.#isInherited && births.size === 0) this.#limit(0, this.#own.soft);
    if (child === undefined) return;
    const inherited = this.#isInherited ? this.#libc.lockLimits(child)?.soft : undefined;
    if (inherited === birth.mark && !birth.isShared) this.#assign(child, inherited, true);
    else {
      if (inherited !== undefined) this.#unshare(inherited);
      this.#mark(child);
    }
  }

  /** Calls `start`, which starts a child that is none of ours. */
  aside<T>(start: () => T): T {
    if (!this.#isInherited || births.size === 0) return start();
    const mark = this.#libc.lockLimits(0)?.soft as number;
    this.#limit(0, this.#own.soft);
    try {
      return start();
    } finally {
      this.#limit(0, mark);
    }
  }

  /** The child whose descendant this is, or which it is; undefined for everybody else's, and for those of who was forgotten. */
  ownerOf(pid: number): number | undefined {
    if (this.#owners.size === 0) return undefined;
    const mark = this.#libc.lockLimits(pid)?.soft as number;
    const owner = this.#owners.get(mark);
    if (!owner) return undefined;
    const [oldestBirth = Number.POSITIVE_INFINITY] = births.keys();
    return owner.isInherited && oldestBirth < mark ? undefined : owner.child;
  }

  /** The pid of a child is given up: from now on its descendants are nobody's. */
  forget(child: number): void {
    this.#owners.delete(this.#marks.get(child) as number);
    this.#marks.delete(child);
  }

  /** Somebody else has this mark, from before its owner was spawned. */
  #unshare(mark: number): void {
    const birth = births.get(mark);
    if (birth) birth.isShared = true;
    const owner = this.#owners.get(mark);
    if (owner === undefined) return;
    this.#owners.delete(mark);
    this.#mark(owner.child);
  }

  #mark(child: number): void {
    const mark = next++;
    this.#assign(child, mark, false);
    if (this.#isPossible) this.#markTree(child, mark);
  }

  #assign(child: number, mark: number, isInherited: boolean): void {
    this.#owners.set(mark, { child, isInherited });
    this.#marks.set(child, mark);
  }

  #limit(pid: number, mark: number): void {
    this.#libc.limitLocks(pid, { soft: mark, hard: this.#own.hard });
  }

  #markTree(pid: number, mark: number): void {
    this.#limit(pid, mark);
    for (const child of firstChildren(pid)) this.#markTree(child, mark);
  }
}
