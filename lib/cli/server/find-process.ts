// Finds the processes that a command names: by id, or by the beginning of one, if only one id begins so.

import { ExecwireError } from "../../errors.ts";
import type { Backend } from "../../process/backend.ts";
import type { Process } from "../../process/process.ts";
import { report } from "../report.ts";

/** Most ids that an error message lists. */
const SHOWN_IDS = 5;

/** Attaches to a process. Rejects with PROCESS_UNKNOWN if none, or more than one, has an id that begins so. */
export async function findProcess(backend: Backend, id: string): Promise<Process> {
  try {
    return await backend.attach(id);
  } catch (error) {
    if (!(error instanceof ExecwireError) || error.code !== "PROCESS_UNKNOWN" || id === "") throw error;
    const ids = (await backend.list()).map(({ processId }) => processId).filter((other) => other.startsWith(id));
    const [only, ...others] = ids;
    if (only === undefined) throw error;
    if (others.length === 0) return backend.attach(only);
    const shown = ids.slice(0, SHOWN_IDS).join(", ") + (ids.length > SHOWN_IDS ? ", ..." : "");
    throw new ExecwireError("PROCESS_UNKNOWN", `${ids.length} processes have an id that begins with ${id}: ${shown}`);
  }
}

/** Calls `act` for every process at the same time, and reports failures. Resolves with an exit code for each, 0 by default. */
export function forEachProcess(
  backend: Backend,
  ids: readonly string[],
  act: (child: Process) => Promise<unknown>,
): Promise<readonly number[]> {
  return Promise.all(
    ids.map(async (id) => {
      try {
        const code = await act(await findProcess(backend, id));
        return typeof code === "number" ? code : 0;
      } catch (error) {
        return report(error);
      }
    }),
  );
}
