// Ends a child whose start was cancelled during the spawn: no caller will ever see it.
import type { Clock } from "../clock.ts";
import type { Child, Leftover } from "../spawn/child.ts";
import { Termination } from "./termination.ts";

/** Kills the child with everything that it has started, and calls `onGone` once nothing of it is held any more. */
export function discard(child: Child, clock: Clock, onGone: (leftover: Leftover | undefined) => void): void {
  let isOver = false;
  const releaseIfGone = () => {
    // A process that was forked during the kill is found by a later check.
    if (isOver && !termination.isPending(child)) onGone(child.release());
  };
  const termination = new Termination(clock, () => {
    termination.proceed(child);
    releaseIfGone();
  });
  child.events$.subscribe({
    next: ({ type }) => {
      isOver ||= type === "exited";
      if (type === "exited") releaseIfGone();
    },
  });
  termination.begin(child, { reason: "terminate", graceMs: 0, scope: "tree" });
}
