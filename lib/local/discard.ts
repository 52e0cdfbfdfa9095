// A child whose start was cancelled while it was being spawned: nobody will ever see it.
import type { Child, Leftover } from "../spawn/child.ts";

/** Kills it with whatever it has started, and calls `onGone` once nothing of it is held. */
export function discard(child: Child, onGone: (leftover: Leftover | undefined) => void): void {
  child.events$.subscribe({ complete: () => onGone(child.release()) });
  child.kill("SIGKILL", "tree");
}
