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

/** Every process there is now. */
export function listProcesses(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
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

/** Pids, other than ours, that hold one of the files open, named as /proc shows them: `pipe:[123]`, `/dev/pts/4`. */
export function holdersOf(files: ReadonlySet<string>): number[] {
  return list("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && holds(name, files))
    .map(Number);
}

function holds(pid: string, files: ReadonlySet<string>): boolean {
  return list(`/proc/${pid}/fd`).some((fd) => {
    try {
      return files.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
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
