// Ends a process with all its descendants, as far as its backend can.
import type { Observable } from "rxjs";
import { present } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { ProcessPort } from "./port.ts";

/** Terminates the tree. The Codex dialect knows no tree and no grace: there it kills the process group. */
export async function terminateTree(process: Pick<ProcessPort, "terminate">, graceMs?: number): Promise<void> {
  try {
    await process.terminate(present({ scope: "tree" as const, graceMs }));
  } catch (error) {
    if (!(error instanceof ExecwireError) || error.code !== "UNSUPPORTED") throw error;
    await process.terminate();
  }
}

/**
 * Terminates the tree. Resolves when the process has closed, or when its log has failed: its start was cancelled, or the
 * connection is lost for good. Rejects as `terminate` does.
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
