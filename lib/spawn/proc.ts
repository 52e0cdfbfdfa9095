// Facts about other processes from /proc (Linux). Everything here is a snapshot: a pid may be gone by the next line, so
// every read tolerates that, and who signals later compares start times.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** One process of the system. */
export interface ProcessEntry {
  readonly pid: number;
  /** One letter: R, S, D, T, Z ... */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; with the pid it identifies a process for good. */
  readonly startTime: number;
}

/** One process; undefined when it is gone. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command in parentheses may itself contain parentheses and spaces: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session] = fields;
  return {
    pid,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: Number(fields[19]),
  };
}

/** Children of this process, whichever of its threads they belong to. */
export function ownChildren(): number[] {
  return list("/proc/self/task").flatMap((thread) => {
    const children = readText(`/proc/self/task/${thread}/children`)?.trim();
    return children ? children.split(" ").map(Number) : [];
  });
}

/**
 * The processes of this system. A scan takes milliseconds, so it is shared by all who ask in the same turn of the event
 * loop (a supervisor that ends a thousand trees); never longer, or a kill would miss who came since.
 */
export class ProcTable {
  #entries: readonly ProcessEntry[] = [];
  #holders: Map<string, number[]> | undefined;
  #isOfThisTurn = false;

  /** Every process there is. */
  get entries(): readonly ProcessEntry[] {
    if (!this.#isOfThisTurn) this.refresh();
    return this.#entries;
  }

  /** Pids, other than ours, that hold a file open, named as /proc shows it: `pipe:[123]`, `/dev/pts/4`. */
  holdersOf(file: string): readonly number[] {
    const { entries } = this;
    this.#holders ??= openFiles(entries);
    return this.#holders.get(file) ?? [];
  }

  /** Scans now. */
  refresh(): void {
    this.#entries = list("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
    this.#holders = undefined;
    if (this.#isOfThisTurn) return;
    this.#isOfThisTurn = true;
    setImmediate(() => {
      this.#isOfThisTurn = false;
    });
  }
}

/** Who holds which pipe or terminal. */
function openFiles(entries: readonly ProcessEntry[]): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const { pid } of entries) {
    if (pid === process.pid) continue;
    const files = new Set(list(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`)));
    for (const file of files) {
      if (!file?.startsWith("pipe:") && !file?.startsWith("/dev/pts/")) continue;
      const known = holders.get(file);
      if (known) known.push(pid);
      else holders.set(file, [pid]);
    }
  }
  return holders;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
