// The processes of a server, page by page. An older server without pages answers with all of them at once.
import { type Methods, type ProcessInfo, present } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Most processes of a page; the server's `listPageBytes` usually ends it earlier. */
const PAGE_PROCESSES = 1_000;

/** Requests one page after another. Rejects with PROTOCOL_VIOLATION for an endless list, or one of more than `max` processes. */
export async function collectPages(
  request: (params: Methods["process/list"]["params"]) => Promise<Methods["process/list"]["result"]>,
  max: number,
): Promise<readonly ProcessInfo[]> {
  // A process may be listed twice when others were removed between two pages: the later info counts.
  const found = new Map<string, ProcessInfo>();
  let after: string | undefined;
  for (let listed = 0; ; ) {
    const { processes, next } = await request(present({ limit: PAGE_PROCESSES, after }));
    listed += processes.length;
    if (listed > max) break;
    for (const info of processes) found.set(info.incarnation, info);
    if (next === undefined) return [...found.values()];
    if (processes.length === 0 || next === after) break;
    after = next;
  }
  throw new ExecwireError("PROTOCOL_VIOLATION", `the server's list of processes is endless, or longer than ${max}`);
}
