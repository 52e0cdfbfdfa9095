// All marks of this program, in one place: whatever spawners it has, and copies of this package, its limit is one.
import { randomInt } from "node:crypto";
import type { ResourceLimits } from "./libc.ts";

/** Marks have 13 digits or more, so that no real limit looks like one, and begin where two programs do not meet. */
const FIRST = 2 ** 40;
const FIRST_BELOW = 2 ** 47;

/** What was known before a spawn, to be compared after it. */
export interface Before {
  /** See `foreignReaps`. */
  readonly reaps: number;
  /** See `Libc.ticks`. */
  readonly tick: number;
}

/** A child that is being spawned. */
export interface Birth {
  readonly mark: number;
  readonly before: Before;
  /** Another spawn may have inherited this mark. */
  isShared?: boolean;
}

/** The child that has a mark. */
export interface Owner {
  readonly child: number;
  /** From this program, so that a child whose spawn began before may have it as well. */
  readonly isInherited: boolean;
  readonly marks: Marker;
}

/** What marks the children of one spawner, as the others see it. */
export interface Marker {
  /** Gives another mark to a child and those that have its old one, which other processes may have as well. */
  remark(child: number, old: number, sharers: Sharers): void;
  /** No other process can have this mark, and none will. */
  confirmed(mark: number): void;
}

/** Which processes may have a mark beside its child. */
export type Sharers = "spawns" | "any";

/** All marks of this program: whatever spawners it has, its limit is one. */
export interface State {
  readonly births: Map<number, Birth>;
  readonly owners: Map<number, Owner>;
  readonly markOf: Map<number, number>;
  /** Marks that a child has had before, by child; others may have them as well. */
  readonly past: Map<number, number[]>;
  /** Those of them that only other spawns may have. */
  readonly earlier: Map<number, number[]>;
  /** Inherited marks that a child of another part of the program may have as well. */
  readonly unconfirmed: Map<number, { readonly before: Before; readonly marks: Marker }>;
  next: number;
  lastInherited: number;
  /** Our limits as they were. */
  own: ResourceLimits | undefined;
  /** Our limit as it is. */
  current: number;
}

/** Two copies of this package in one program must not take each other's marks for limits; the number changes with `State`. */
const KEY = Symbol.for("execwire.marks.1");
const shared = globalThis as { [KEY]?: State };
shared[KEY] ??= {
  births: new Map(),
  owners: new Map(),
  markOf: new Map(),
  past: new Map(),
  earlier: new Map(),
  unconfirmed: new Map(),
  next: randomInt(FIRST, FIRST_BELOW),
  lastInherited: 0,
  own: undefined,
  current: Number.NaN,
};
/** The one there is. */
export const state: State = shared[KEY];
