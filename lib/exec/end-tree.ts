// Ends a process with all that it started, as far as its backend reaches.
import type { Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import type { Process } from "../process/process.ts";

/** How to end it. */
export interface EndOptions {
  /** Milliseconds from SIGTERM to SIGKILL. Default: the backend's. */
  readonly graceMs: number | undefined;
  /** How long to wait for its end. */
  readonly waitMs: number;
  readonly clock: Clock;
}

/**
 * Terminates the tree and resolves when the process is closed, contact with it is lost, it is refused, or the wait is over. Never
 * rejects: what cannot be ended is seen by its state.
 */
export async function endTree(process: Process, { graceMs, waitMs, clock }: EndOptions): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.closed$.subscribe({ complete: resolve, error: () => resolve() });
  });
  const terminated = terminate(process, graceMs).then(
    () => ended,
    () => undefined,
  );
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(waitMs, resolve);
  });
  await Promise.race([terminated, over]);
  cancel();
}

/** A dialect without trees and graces ends what it calls a process: there SIGKILL to the group is all there is. */
async function terminate(process: Process, graceMs: number | undefined): Promise<void> {
  try {
    await process.terminate({ scope: "tree", ...(graceMs !== undefined && { graceMs }) });
  } catch (error) {
    if (!(error instanceof ExecwireError) || error.code !== "UNSUPPORTED") throw error;
    await process.terminate();
  }
}
