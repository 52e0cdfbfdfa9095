// Gives children the soft limit of open files that this program was started with. Node raises its own, and programs that use
// select(2) or loop over all descriptors fail or become slow with the raised one.
//
// A child inherits our limit, so ours is lowered while spawns are in progress. It applies to new descriptors only, and the kernel
// always gives out the lowest free one, so nothing fails meanwhile as long as there is room below.
import { closeSync, openSync } from "node:fs";
import { startState } from "../start-state.ts";
import type { Libc } from "./libc.ts";
import type { ResourceLimits } from "./rlimit.ts";

/** Descriptors that the program may open while spawns are in progress; a quarter of a limit that is lower. */
const ROOM = 256;

/** Spawns in progress, of any spawner: the limit is that of the program. */
let pending = 0;
/** Our own limit, while it is lowered. */
let raised: ResourceLimits | undefined;

/** Call before a spawn; the returned function after it, with the child's pid. */
export function lowerFileLimit(libc: Libc, inheritFds: readonly number[]): (child?: number) => void {
  const soft = startState().softFiles;
  if (soft === undefined) return () => undefined;
  pending += 1;
  const isInherited = lower(libc, soft, inheritFds);
  return (child) => {
    pending -= 1;
    if (pending === 0) raise(libc);
    if (isInherited || child === undefined) return;
    // The program may have seen our limit for a moment.
    const limits = libc.fileLimits(child);
    if (limits && limits.soft > soft) libc.limitFiles(child, { ...limits, soft });
  };
}

/** Whether our limit is the one that children get. */
function lower(libc: Libc, soft: number, inheritFds: readonly number[]): boolean {
  const limits = libc.fileLimits(0);
  if (!limits || limits.soft <= soft) return limits !== undefined;
  const probe = lowestFree();
  // In the child, posix_spawn handles every number up to the last one it inherits, and none beyond its limit.
  if (Math.max(probe + Math.min(ROOM, soft / 4), ...inheritFds) >= soft) return false;
  raised ??= limits;
  libc.limitFiles(0, { ...limits, soft });
  return true;
}

/** The lowest free descriptor; infinite if there is none. */
function lowestFree(): number {
  try {
    const fd = openSync("/dev/null", "r");
    closeSync(fd);
    return fd;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function raise(libc: Libc): void {
  if (raised) libc.limitFiles(0, raised);
  raised = undefined;
}
