// A child whose start was cancelled while it was being spawned: nobody will ever see it.
import type { Child } from "../spawn/child.ts";

/** Kills it with whatever it has started, and calls `onGone` once nothing of it is held. */
export function discard(child: Child, onGone: () => void): void {
  const release = () => {
    child.release();
    onGone();
  };
  child.events$.subscribe({ complete: release });
  child.kill("SIGKILL", "tree");
}
