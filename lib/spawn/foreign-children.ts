// Children that other parts of this program start, by child_process for example. Nothing announces them. Those that live show in
// /proc; that one was waited for shows in the page faults of this program's children, since no process runs without any.
import type { Libc } from "./libc.ts";
import { ownChildren } from "./proc.ts";

/** Page faults of the children that spawners of ours have waited for. */
let ourFaults = 0;

/** Ends the zombie of a child of a spawner, or of one that was adopted. */
export function reapOwn(libc: Libc, pid: number): void {
  ourFaults += libc.reap(pid);
}

/** A number that changes when a child of another part of this program was waited for. */
export function foreignReaps(libc: Libc): number {
  return libc.reapedFaults() - ourFaults;
}

/** The children that this program has now and `isOurs` does not know. */
export function foreignChildren(isOurs: (pid: number) => boolean): number[] {
  return ownChildren().filter((pid) => !isOurs(pid));
}
