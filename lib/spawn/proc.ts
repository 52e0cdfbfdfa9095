// Facts about other processes from /proc (Linux). Everything here is a snapshot: a pid may be gone by the next line, so
// every read tolerates that, and who signals later compares start times.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

/** Characters of a command line that are told of; its end says less and less. */
const COMMAND_CHARS = 256;
/** Forked, and nothing executed since (linux/sched.h). */
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
  /** Device number of its controlling terminal, 0 without one. */
  readonly terminal: number;
  /** The process group in the foreground of that terminal, -1 without one. */
  readonly foreground: number;
  /** Clock ticks since boot; with the pid it identifies a process for good. */
  readonly startTime: number;
}

/** Whether this system has what is read here. */
export function hasProc(): boolean {
  if (process.platform !== "linux") return false;
  isMounted ??= existsSync("/proc/self/stat");
  return isMounted;
}

/** Looked up once: it is asked for each process. */
let isMounted: boolean | undefined;

/** One process; undefined when it is gone. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(stat);
}

/** The threads of a process, the first of which has its pid. None when it is gone. */
export function readThreads(pid: number): ProcessEntry[] {
  return list(`/proc/${pid}/task`).flatMap((thread) => {
    const stat = readText(`/proc/${pid}/task/${thread}/stat`);
    return stat === undefined ? [] : parseStat(stat);
  });
}

/** The line that /proc shows for a process. */
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
 * Whether this is a copy of our own program on its way to the one that it shall run. Until then it has all our descriptors,
 * which says nothing of whose it is.
 */
export function isNewborn(pid: number): boolean {
  const stat = readText(`/proc/${pid}/stat`);
  const [, parent, , , , , flags] = stat ? fieldsOf(stat) : [];
  if (Number(parent) !== process.pid || (Number(flags) & PF_FORKNOEXEC) === 0) return false;
  // An orphan that we were given may be half of a shell, which executes nothing of its own either.
  return readLink(`/proc/${pid}/exe`) === readLink("/proc/self/exe");
}

/** What a process was called with, or, in brackets, its name where it shows none: a kernel thread, one that is gone. */
export function readCommand(pid: number): string {
  const line = readText(`/proc/${pid}/cmdline`, "utf8")?.replaceAll("\0", " ").trim();
  const command = line || `[${readText(`/proc/${pid}/comm`, "utf8")?.trimEnd() ?? ""}]`;
  return Array.from(command.slice(0, 2 * COMMAND_CHARS))
    .slice(0, COMMAND_CHARS)
    .join("");
}

/** The fields behind the command. That is in parentheses and may itself contain some, and spaces: it ends at the last one. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Children of this process, whichever of its threads they belong to. */
export function ownChildren(): number[] {
  return childrenOf("self");
}

/** The same of another one. */
export function childrenOf(pid: number | "self"): number[] {
  return list(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread));
}

/** The same of the first thread of another one, which is all that a program begins with: mostly none, and asked at many a start. */
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

/** Every pid there is. */
export function listPids(): number[] {
  return list("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}

/** The descriptors of a process, as paths that lead to what they have open. None when it may not be looked into. */
export function descriptorsOf(pid: number): string[] {
  return list(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
}

/** What /proc calls the file of a descriptor: `pipe:[123]`, `/dev/pts/4`. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Text of a file of /proc; undefined when the process is gone, or may not be looked into. */
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
