// Finds the processes that have a child's streams open, from /proc: for tree kills, and to explain why the streams of a process
// that exited are still open. The names in /proc are only a hint: each container has its own /dev/pts/0.
import { fstatSync, lstatSync, type Stats, statSync } from "node:fs";
import type { StreamName } from "../../../protocol/index.ts";
import { descriptorsOf, isBetweenForkAndExec, readLink, readProcess } from "./proc.ts";

/** The file of a child's stream. */
export interface StreamFile {
  readonly stream: "stdin" | StreamName;
  readonly device: number;
  readonly inode: number;
  /** Its name in /proc. */
  readonly name: string;
  /** Device number if it is a terminal; 0 for a pipe. */
  readonly terminal: number;
}

/** Descriptors of pipes and terminals, by the name of their file in /proc. */
export type DescriptorsByName = ReadonlyMap<string, readonly Descriptor[]>;

/** A descriptor of another process. */
export interface Descriptor {
  readonly pid: number;
  readonly path: string;
}

/** The name under which every process can open its controlling terminal. */
const OWN_TERMINAL = "/dev/tty";

/** The pipe at one of our descriptors. */
export function pipeFile(stream: StreamFile["stream"], fd: number): StreamFile {
  const { dev, ino } = fstatSync(fd);
  return { stream, device: dev, inode: ino, name: `pipe:[${ino}]`, terminal: 0 };
}

/** The terminal whose slave is at our descriptor. */
export function terminalFile(slave: number, path: string): StreamFile {
  const { dev, ino, rdev } = fstatSync(slave);
  return { stream: "pty", device: dev, inode: ino, name: path, terminal: rdev };
}

/** Reads the descriptors of all these processes but ours. Yields after each: one takes microseconds, thousands do not. */
export function* findOpenFiles(pids: Iterable<number>): Generator<void, DescriptorsByName> {
  const found = new Map<string, Descriptor[]>();
  for (const pid of pids) {
    if (pid === process.pid) continue;
    for (const path of descriptorsOf(pid)) {
      const name = readLink(path);
      if (!name?.startsWith("pipe:") && !name?.startsWith("/dev/pts/") && name !== OWN_TERMINAL) continue;
      const known = found.get(name);
      if (known) known.push({ pid, path });
      else found.set(name, [{ pid, path }]);
    }
    yield;
  }
  return found;
}

/** For each process, by pid: which streams of the child `leader` it has open. */
export function* findHolders(
  files: readonly StreamFile[],
  open: DescriptorsByName,
  leader: number,
): Generator<void, Map<number, Set<StreamFile["stream"]>>> {
  const holders = new Map<number, Set<StreamFile["stream"]>>();
  for (const file of files) {
    const names = file.terminal ? [file.name, OWN_TERMINAL] : [file.name];
    for (const { pid, path } of names.flatMap((name) => open.get(name) ?? [])) {
      yield;
      // Checked first: descriptors seen after the exec are the process's own.
      if (isBetweenForkAndExec(pid) || !leadsTo(path, file, { pid, leader }) || !keepsOpen(path, file)) continue;
      const streams = holders.get(pid) ?? new Set();
      holders.set(pid, streams.add(file.stream));
    }
  }
  return holders;
}

/** Whether a descriptor of process `pid` refers to this file of `leader`. False if it is not readable. */
export function leadsTo(
  path: string,
  file: StreamFile,
  { pid, leader }: { readonly pid: number; readonly leader: number },
): boolean {
  if (file.terminal && readLink(path) === OWN_TERMINAL) {
    const process = readProcess(pid);
    // A terminal in a container may have the same number.
    return process?.terminal === file.terminal && process.session === leader;
  }
  const { dev, ino } = stat(path) ?? {};
  return dev === file.device && ino === file.inode;
}

/** Whether a read of this descriptor may block as on a pipe, or as on a terminal (also sockets, inotify). */
export function mayBlockReader(path: string, kind: "pipe" | "tty"): boolean {
  const file = stat(path);
  if (!file || !allows(path, 0o400)) return false;
  if (kind === "pipe" || file.isFIFO()) return kind === "pipe" && file.isFIFO();
  // Memory devices, /dev/null among them, have the major number 1.
  return !file.isFile() && !file.isDirectory() && file.rdev >> 8 !== 1;
}

/** Whether a descriptor keeps the stream open. One that can only read a child's output pipe does not. */
function keepsOpen(path: string, { stream }: StreamFile): boolean {
  return stream === "pty" || allows(path, stream === "stdin" ? 0o400 : 0o200);
}

/** The permissions of the link in /proc show the descriptor's access mode. */
function allows(path: string, permission: number): boolean {
  return ((stat(path, lstatSync)?.mode ?? 0) & permission) !== 0;
}

function stat(path: string, how: (path: string) => Stats = statSync): Stats | undefined {
  try {
    return how(path);
  } catch {
    return undefined;
  }
}
