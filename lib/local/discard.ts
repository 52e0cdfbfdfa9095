// A child whose start was cancelled while it was being spawned: no caller will ever see it.
import type { Clock } from "../clock.ts";
import type { Child, Leftover } from "../spawn/child.ts";
import { Termination } from "./termination.ts";

/** Kills it with whatever it has started, and calls `onGone` once nothing of it is held. */
export function discard(child: Child, clock: Clock, onGone: (leftover: Leftover | undefined) => void): void {
  let isOver = false;
  const releaseIfGone = () => {
    // What it was forking at the moment of the kill is found later.
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
