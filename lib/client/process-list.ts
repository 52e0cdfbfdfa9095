// The processes of a server, page by page. A server that knows no pages answers with all of them at once.
import { type Methods, type ProcessInfo, present } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Processes of one page at most; their size bounds it first. */
const PAGE = 1_000;

/** Asks for one page after another. Rejects with PROTOCOL_VIOLATION for a list without an end, or of more than `max` processes. */
export async function collectPages(
  ask: (params: Methods["process/list"]["params"]) => Promise<Methods["process/list"]["result"]>,
  max: number,
): Promise<readonly ProcessInfo[]> {
  // A process may come twice, when others were removed between two pages: the later word counts.
  const found = new Map<string, ProcessInfo>();
  let after: string | undefined;
  for (let listed = 0; ; ) {
    const { processes, next } = await ask(present({ limit: PAGE, after }));
    listed += processes.length;
    if (listed > max) break;
    for (const info of processes) found.set(info.incarnation, info);
    if (next === undefined) return [...found.values()];
    if (processes.length === 0 || next === after) break;
    after = next;
  }
  throw new ExecwireError("PROTOCOL_VIOLATION", "the server's list of processes comes to no end");
}
