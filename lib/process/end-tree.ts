// Ends a process with everything that it started, as far as its backend reaches.
import type { Observable } from "rxjs";
import { present } from "../../protocol/index.ts";
import { abortable, onAbort } from "../abort.ts";
import { ExecwireError } from "../errors.ts";
import type { ProcessPort } from "./port.ts";

/**
 * Terminates the tree. In a dialect without trees and grace periods, kills the process group, which is the widest scope there.
 * Returns whether the process was running.
 */
export async function terminateTree(
  process: Pick<ProcessPort, "terminate">,
  graceMs?: number,
): Promise<{ readonly running: boolean }> {
  try {
    return await process.terminate(present({ scope: "tree" as const, graceMs }));
  } catch (error) {
    if (!(error instanceof ExecwireError) || error.code !== "UNSUPPORTED") throw error;
    return process.terminate();
  }
}

/** A start that the caller may abort: then its process, if it starts, is killed with its tree. */
export async function abortableStart<P extends Pick<ProcessPort, "terminate">>(
  start: () => Promise<P>,
  signal: AbortSignal | undefined,
): Promise<P> {
  if (!signal) return start();
  signal.throwIfAborted();
  const starting = start();
  const stop = onAbort(signal, () => {
    starting.then((process) => terminateTree(process, 0)).catch(() => undefined);
  });
  return abortable(starting, signal).finally(stop);
}

/**
 * Terminates the tree and resolves when the process is closed, or when contact with it is lost. Rejects when the termination is
 * refused.
 */
export async function endTree(
  process: Pick<ProcessPort, "terminate"> & { readonly closed$: Observable<unknown> },
  graceMs?: number,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.closed$.subscribe({ complete: resolve, error: () => resolve() });
  });
  await terminateTree(process, graceMs);
  await ended;
}
