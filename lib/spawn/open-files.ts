// Who has the streams of a child open, from /proc: whom a tree kill reaches, and why a process that exited is not closed.
// The names that /proc shows are only a hint: each container has a /dev/pts/0 of its own.
import { fstatSync, lstatSync, type Stats, statSync } from "node:fs";
import type { StreamName } from "../../protocol/index.ts";
import { descriptorsOf, isNewborn, readLink, readProcess } from "./proc.ts";

/** A stream of a child, as the kernel knows it. */
export interface StreamFile {
  readonly stream: "stdin" | StreamName;
  readonly device: number;
  readonly inode: number;
  /** As /proc names it. */
  readonly name: string;
  /** Device number of a terminal; 0 for a pipe. */
  readonly terminal: number;
}

/** Descriptors by the name that /proc shows for their files; those of pipes and terminals only. */
export type OpenFiles = ReadonlyMap<string, readonly Descriptor[]>;

/** A descriptor of another process. */
export interface Descriptor {
  readonly pid: number;
  readonly path: string;
}

/** What a process calls its own terminal, whichever that is. */
const OWN_TERMINAL = "/dev/tty";

/** The pipe at one of our descriptors. */
export function pipeFile(stream: StreamFile["stream"], fd: number): StreamFile {
  const { dev, ino } = fstatSync(fd);
  return { stream, device: dev, inode: ino, name: `pipe:[${ino}]`, terminal: 0 };
}

/** The terminal whose other side is at our descriptor. */
export function terminalFile(slave: number, path: string): StreamFile {
  const { dev, ino, rdev } = fstatSync(slave);
  return { stream: "pty", device: dev, inode: ino, name: path, terminal: rdev };
}

/** Looks at the descriptors of all these but us. To be interrupted after each process: one takes microseconds, thousands do not. */
export function* findOpenFiles(pids: Iterable<number>): Generator<void, OpenFiles> {
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

/** Which of the streams of `leader`, the child, each process has open, by pid. */
export function* whoHolds(
  files: readonly StreamFile[],
  open: OpenFiles,
  leader: number,
): Generator<void, Map<number, Set<StreamFile["stream"]>>> {
  const holders = new Map<number, Set<StreamFile["stream"]>>();
  for (const file of files) {
    const names = file.terminal ? [file.name, OWN_TERMINAL] : [file.name];
    for (const { pid, path } of names.flatMap((name) => open.get(name) ?? [])) {
      yield;
      // In this order: what it has open by the time that it is somebody is its own.
      if (isNewborn(pid) || !leadsTo(path, file, { pid, leader }) || !keepsOpen(path, file)) continue;
      const streams = holders.get(pid) ?? new Set();
      holders.set(pid, streams.add(file.stream));
    }
  }
  return holders;
}

/** Whether a descriptor of process `pid` is at this file of `leader`. False when it may not be looked into. */
export function leadsTo(
  path: string,
  file: StreamFile,
  { pid, leader }: { readonly pid: number; readonly leader: number },
): boolean {
  if (file.terminal && readLink(path) === OWN_TERMINAL) {
    const process = readProcess(pid);
    // The number alone may be that of a terminal in some container.
    return process?.terminal === file.terminal && process.session === leader;
  }
  const { dev, ino } = stat(path) ?? {};
  return dev === file.device && ino === file.inode;
}

/** Whether a reader of this descriptor may have to wait: as one does at a pipe, or as at a terminal, a socket, a watch. */
export function mayBlockReader(path: string, kind: "pipe" | "tty"): boolean {
  const file = stat(path);
  if (!file || !allows(path, 0o400)) return false;
  if (kind === "pipe" || file.isFIFO()) return kind === "pipe" && file.isFIFO();
  // Memory devices, /dev/null among them, have the major number 1.
  return !file.isFile() && !file.isDirectory() && file.rdev >> 8 !== 1;
}

/** Whether a descriptor at a pipe keeps that stream from its end: who only reads what a child prints does not. */
function keepsOpen(path: string, { stream }: StreamFile): boolean {
  return stream === "pty" || allows(path, stream === "stdin" ? 0o400 : 0o200);
}

/** /proc shows what a descriptor was opened for as the permissions of its link. */
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
