// Ends a process with everything it started, as far as its backend can.
import type { Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import type { Process } from "../process/process.ts";

/** How to end a process. */
export interface EndOptions {
  /** Milliseconds from SIGTERM to SIGKILL. Default: the backend's. */
  readonly graceMs: number | undefined;
  /** Milliseconds to wait for its end. */
  readonly waitMs: number;
  readonly clock: Clock;
}

/**
 * Terminates the tree. Resolves when the process is closed, contact with it is lost, the request is refused, or the wait is over.
 * Never rejects: the state of the process shows whether it ended.
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

/** A backend without tree scope and grace ends a process in its own way: a Codex exec-server sends SIGKILL to the group. */
async function terminate(process: Process, graceMs: number | undefined): Promise<void> {
  try {
    await process.terminate({ scope: "tree", ...(graceMs !== undefined && { graceMs }) });
  } catch (error) {
    if (!(error instanceof ExecwireError) || error.code !== "UNSUPPORTED") throw error;
    await process.terminate();
  }
}
