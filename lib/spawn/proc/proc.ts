// Reads /proc (Linux). Everything here is a snapshot: a process may be gone by the next line, so every read tolerates that, and
// callers compare start times before they send a signal.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

/** Longest command line returned, in characters; the beginning is the informative part. */
const COMMAND_CHARS = 256;
/** Process flag: forked but no exec since (linux/sched.h). */
const PF_FORKNOEXEC = 0x40;
const FIRST_BYTE = new Uint8Array(1);

/** One process of the system, or one of its threads. */
export interface ProcessEntry {
  readonly pid: number;
  /** One letter: R, S, D, T, Z ... */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Device number of the controlling terminal; 0 if there is none. */
  readonly terminal: number;
  /** The foreground process group of that terminal; -1 if there is none. */
  readonly foreground: number;
  /** Clock ticks since boot. Together with the pid it identifies a process uniquely. */
  readonly startTime: number;
}

/** Whether this system has a Linux /proc. */
export function hasProc(): boolean {
  if (process.platform !== "linux") return false;
  isMounted ??= existsSync("/proc/self/stat");
  return isMounted;
}

/** Cached, since `hasProc` is called for each process. */
let isMounted: boolean | undefined;

/** One process; undefined if it is gone. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(stat);
}

/** The threads of a process; the main thread has its pid. Empty if the process is gone. */
export function readThreads(pid: number): ProcessEntry[] {
  return list(`/proc/${pid}/task`).flatMap((thread) => {
    const stat = readText(`/proc/${pid}/task/${thread}/stat`);
    return stat === undefined ? [] : parseStat(stat);
  });
}

/** Parses /proc/PID/stat. */
export function parseStat(stat: string): ProcessEntry {
  const fields = fieldsOf(stat);
  const [state = "", parent, group, session, terminal, foreground] = fields;
  return {
    pid: Number.parseInt(stat, 10),
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    terminal: Number(terminal),
    foreground: Number(foreground),
    startTime: Number(fields[19]),
  };
}

/**
 * Whether this is a fork of our own program that has not called exec yet. Until then it has copies of all our descriptors,
 * which do not show which child it belongs to.
 */
export function isBetweenForkAndExec(pid: number): boolean {
  const stat = readText(`/proc/${pid}/stat`);
  const [, parent, , , , , flags] = stat ? fieldsOf(stat) : [];
  if (Number(parent) !== process.pid || (Number(flags) & PF_FORKNOEXEC) === 0) return false;
  // An adopted orphan may be a subshell, which has not called exec either, but is not a copy of us.
  return readLink(`/proc/${pid}/exe`) === readLink("/proc/self/exe");
}

/** The command line of a process; or its name in brackets if it has none, as kernel threads and zombies. */
export function readCommand(pid: number): string {
  const line = readText(`/proc/${pid}/cmdline`, "utf8")?.replaceAll("\0", " ").trim();
  const command = line || `[${readText(`/proc/${pid}/comm`, "utf8")?.trimEnd() ?? ""}]`;
  return Array.from(command.slice(0, 2 * COMMAND_CHARS))
    .slice(0, COMMAND_CHARS)
    .join("");
}

/** The fields after the name. The name is in parentheses and may contain parentheses and spaces, so it ends at the last `)`. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Children of this process, started by any of its threads. */
export function ownChildren(): number[] {
  return childrenOf("self");
}

/** Children of a process. */
export function childrenOf(pid: number | "self"): number[] {
  return list(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread));
}

/** Children of a process's main thread, the only one of a new program. Usually none, which is fast: many spawns call this. */
export function firstChildren(pid: number): number[] {
  let fd: number | undefined;
  try {
    fd = openSync(`/proc/${pid}/task/${pid}/children`, "r");
    return readSync(fd, FIRST_BYTE) === 0 ? [] : childrenOfThread(pid, pid);
  } catch {
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The pids of all processes. */
export function listPids(): number[] {
  return list("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}

/** The descriptors of a process, as paths of their links in /proc. Empty if they are not readable. */
export function descriptorsOf(pid: number): string[] {
  return list(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
}

/** The name in /proc of a descriptor's file: `pipe:[123]`, `/dev/pts/4`. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Reads a text file of /proc; undefined if the process is gone or the file is not readable. */
export function readText(path: string, encoding: BufferEncoding = "latin1"): string | undefined {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}

function childrenOfThread(pid: number | "self", thread: number | string): number[] {
  const children = readText(`/proc/${pid}/task/${thread}/children`)?.trim();
  return children ? children.split(" ").map(Number) : [];
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
