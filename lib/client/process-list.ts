// The processes of a server, page by page. A server that knows no pages answers with all of them at once.
import type { Methods, ProcessInfo } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Processes of one page at most; their size bounds it first. */
const PAGE = 1_000;
/** Many times what a server keeps: a list that comes to no end would fill the memory. */
const MAX_PROCESSES = 100_000;

/** Asks for one page after another. Rejects with PROTOCOL_VIOLATION for a list without an end. */
export async function collectPages(
  ask: (params: Methods["process/list"]["params"]) => Promise<Methods["process/list"]["result"]>,
): Promise<readonly ProcessInfo[]> {
  // A process may come twice, when others were removed between two pages: the later word counts.
  const found = new Map<string, ProcessInfo>();
  let after: string | undefined;
  for (let listed = 0; listed <= MAX_PROCESSES; ) {
    const { processes, next } = await ask({ limit: PAGE, ...(after !== undefined && { after }) });
    listed += processes.length;
    for (const info of processes) found.set(info.incarnation, info);
    if (next === undefined) return [...found.values()];
    if (processes.length === 0 || next === after) break;
    after = next;
  }
  throw new ExecwireError("PROTOCOL_VIOLATION", "the server's list of processes comes to no end");
}
