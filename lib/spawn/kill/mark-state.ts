// The marks of this program. One place for all spawners and all copies of this package, since the program has only one limit.
import { randomInt } from "node:crypto";
import type { ResourceLimits } from "../posix/rlimit.ts";

/** Marks have at least 13 digits, unlike real limits. The first one is random, so that two programs do not collide. */
const FIRST = 2 ** 40;
const FIRST_BELOW = 2 ** 47;

/** Readings before a spawn, for comparison after it. */
export interface Baseline {
  /** See `foreignReaps`. */
  readonly reaps: number;
  /** See `Libc.ticks`. */
  readonly tick: number;
}

/** A spawn in progress. */
export interface PendingSpawn {
  readonly mark: number;
  readonly before: Baseline;
  /** Another process may have inherited this mark. */
  isShared?: boolean;
}

/** The child that has a mark. */
export interface Owner {
  readonly child: number;
  /** Inherited from this program, so that an older spawn still in progress may have the same mark. */
  readonly isInherited: boolean;
  readonly marks: Marker;
}

/** Marks the children of one spawner, as seen by other spawners. */
export interface Marker {
  /** Gives another mark to a child and to its descendants, since unrelated processes may have its old one. */
  replaceMark(child: number, old: number, sharers: Sharers): void;
  /** Only the child and its descendants have this mark, now and in future. */
  confirmed(mark: number): void;
}

/** Which other processes may have a child's mark: only children of other spawns, or any. */
export type Sharers = "spawns" | "any";

/** All marks of this program. */
export interface State {
  readonly pendingSpawns: Map<number, PendingSpawn>;
  readonly owners: Map<number, Owner>;
  readonly markOf: Map<number, number>;
  /** Earlier marks of a child, by child. Other processes may have them too. */
  readonly formerMarks: Map<number, number[]>;
  /** Those earlier marks that only children of other spawns may have. */
  readonly formerSpawnMarks: Map<number, number[]>;
  /** Inherited marks that a child started by another part of the program may have too. */
  readonly unconfirmed: Map<number, { readonly before: Baseline; readonly marks: Marker }>;
  nextMark: number;
  lastInherited: number;
  /** This program's limits before the first mark. */
  originalLimits: ResourceLimits | undefined;
  /** This program's current soft limit. */
  currentLimit: number;
}

/** Shared by all copies of this package: marks of one copy must not look like limits to another. Changes with `State`. */
const KEY = Symbol.for("execwire.marks.2");
const shared = globalThis as { [KEY]?: State };
shared[KEY] ??= {
  pendingSpawns: new Map(),
  owners: new Map(),
  markOf: new Map(),
  formerMarks: new Map(),
  formerSpawnMarks: new Map(),
  unconfirmed: new Map(),
  nextMark: randomInt(FIRST, FIRST_BELOW),
  lastInherited: 0,
  originalLimits: undefined,
  currentLimit: Number.NaN,
};
/** The state of this program. */
export const state: State = shared[KEY];
