// Children that other parts of this program start, with child_process for example. No event announces them. Running ones are
// listed in /proc; a reaped one shows in the page faults of this program's children, since every process has some.
import type { Libc } from "../posix/libc.ts";
import { ownChildren } from "../proc/proc.ts";

/** Page faults of the children that our spawners have reaped. */
let ourFaults = 0;

/** Reaps the zombie of a spawner's child or of an adopted orphan. */
export function reapOwn(libc: Libc, pid: number): void {
  ourFaults += libc.reap(pid);
}

/** A number that changes whenever another part of this program reaps a child. */
export function foreignReaps(libc: Libc): number {
  return libc.reapedFaults() - ourFaults;
}

/** The current children of this program for which `isOurs` is false. */
export function foreignChildren(isOurs: (pid: number) => boolean): number[] {
  return ownChildren().filter((pid) => !isOurs(pid));
}
