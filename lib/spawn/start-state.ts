// What this program was started with, as far as Node does not show it: Node raises the soft limit of open files, resets ignored
// signals and replaces bytes that are not UTF-8, all before JavaScript runs. The command line gets the facts from the head of its
// script (`cli/head.sh`); a program that uses the library has what /proc still shows.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isIllFormed } from "../../protocol/index.ts";
import { decodeBytes, encodeBytes } from "./byte-strings.ts";
import { readText } from "./proc/proc.ts";

/** The variable by which the head hands on what it found. */
const VARIABLE = "EXECWIRE_START";

const SIGQUIT = 3;
const SIGINT = 2;
const SIGCHLD = 17;
const O_CLOEXEC = 0o2000000;

/** What this program was started with. */
export interface StartState {
  /** The soft limit of open files; undefined if it is not known. */
  readonly softFiles: number | undefined;
  /** Numbers of the signals that were ignored. Not SIGCHLD, without which no exit is noticed. */
  readonly ignored: readonly number[];
  /** Numbers of the signals that were blocked. */
  readonly blocked: readonly number[];
  /** Descriptors from 3 on. Not known in a program that uses the library. */
  readonly fds: readonly number[];
  readonly environment: readonly OriginalEntry[];
}

/** An entry of the environment. */
export interface OriginalEntry {
  readonly entry: string;
  /** As `process.env` has it, with U+FFFD for what is not UTF-8; empty without a "=". */
  readonly name: string;
  readonly value: string;
  /** An earlier entry has the same name; `process.env` has that one. */
  readonly isRepeated: boolean;
}

let state: StartState | undefined;
let passesSignals = false;

/** Reads the state on the first call. */
export function startState(): StartState {
  state ??= {
    softFiles: parentSoftFiles(),
    ignored: [],
    blocked: [],
    fds: [],
    environment: ownEntries(readBytes("/proc/self/environ")),
  };
  return state;
}

/**
 * Takes the state from the head of the script, and makes `process.env` what it was before. Call it first of all: later, what Node
 * itself opens looks inherited.
 */
export function takeStartState(): void {
  const text = process.env[VARIABLE];
  delete process.env[VARIABLE];
  const [, pid, shell, ignored = "", blocked = "", fds = "", softFiles, environ = ""] =
    /^(\d+) (\w*)\/(\w*)\/(\w*)\/([\d,]*)\/(\S+)\s*([\s\S]*)$/.exec(text ?? "") ?? [];
  // Another program may have inherited the variable.
  if (Number(pid) !== process.pid) {
    state = { ...startState(), fds: inheritedDescriptors() };
    return;
  }
  const entries = ownEntries(Buffer.from(environ, "base64"));
  state = {
    softFiles: softFiles === "unlimited" ? Number.POSITIVE_INFINITY : Number(softFiles),
    ignored: withoutShellsOwn(signalsOf(ignored), shell === "bash"),
    blocked: signalsOf(blocked),
    fds: fds.split(",").map(Number).filter(isFree),
    environment: entries,
  };
  if (entries.length > 0) restoreEnvironment(entries);
}

/** Makes children ignore and block the signals that we were started with; otherwise they start with the defaults. */
export function passSignalsOn(): void {
  passesSignals = true;
}

/** The signals that children ignore and block. */
export function signalsForChildren(): Pick<StartState, "ignored" | "blocked"> {
  return passesSignals ? startState() : { ignored: [], blocked: [] };
}

/** The arguments of this program, exact also where they are not UTF-8. */
export function exactArguments(): string[] {
  const own = process.argv.slice(2);
  if (!own.some((argument) => argument.includes("\ufffd"))) return own;
  const all = splitEntries(readBytes("/proc/self/cmdline"));
  return own.length > 0 && all.length > own.length ? all.slice(-own.length) : own;
}

/** Our directory, exact; undefined if it was removed. */
export function ownDirectory(): string | undefined {
  try {
    const directory = process.cwd();
    return directory.includes("\ufffd") ? decodeBytes(readlinkSync("/proc/self/cwd", "buffer")) : directory;
  } catch {
    return undefined;
  }
}

/** Our directory for readers; where it was removed, as the kernel shows that. */
export function shownDirectory(): string {
  const directory = ownDirectory();
  if (directory !== undefined) return directory;
  try {
    return decodeBytes(readlinkSync("/proc/self/cwd", "buffer"));
  } catch {
    return ".";
  }
}

/** Makes `process.env` what it was before the shell that ran the head. */
function restoreEnvironment(entries: readonly OriginalEntry[]): void {
  const names = new Set(entries.map(({ name }) => name));
  for (const name of Object.keys(process.env)) if (!names.has(name)) delete process.env[name];
  for (const { name, value, isRepeated } of entries)
    if (name !== "" && !isRepeated && process.env[name] !== value) process.env[name] = value;
}

/** Not what Node took for itself: the channel to a Node program that forked us. */
function isFree(fd: number): boolean {
  return fd > 2 && !splitEntries(readBytes("/proc/self/environ")).includes(`NODE_CHANNEL_FD=${fd}`);
}

/** bash ignores SIGQUIT itself. A shell that starts a job in the background ignores both. */
function withoutShellsOwn(signals: readonly number[], isBash: boolean): number[] {
  return signals.filter((each) => each !== SIGCHLD && !(isBash && each === SIGQUIT && !signals.includes(SIGINT)));
}

/** The numbers in a set as /proc shows it: hexadecimal, signal 1 in the lowest bit. */
function signalsOf(hex: string): number[] {
  const set = BigInt(`0x${hex || "0"}`);
  return Array.from({ length: 64 }, (_, index) => index + 1).filter((each) => (set >> BigInt(each - 1)) & 1n);
}

/**
 * The soft limit of our parent, if we have the same hard limit: then neither was set between the two, and what differs is that
 * Node raised ours.
 */
function parentSoftFiles(): number | undefined {
  const [own, parent] = [filesLimit("self"), filesLimit(process.ppid)];
  return own && parent && own[1] === parent[1] ? Number(parent[0]?.replace("unlimited", "Infinity")) : undefined;
}

function filesLimit(pid: number | "self"): readonly [soft?: string, hard?: string] | undefined {
  return /^Max open files +(\S+) +(\S+)/m.exec(readText(`/proc/${pid}/limits`) ?? "")?.slice(1) as
    | [string, string]
    | undefined;
}

/** Without the head only these are known: Node sets close-on-exec on the first descriptors without a hole. */
function inheritedDescriptors(): number[] {
  let names: string[];
  try {
    names = readdirSync("/proc/self/fd");
  } catch {
    return [];
  }
  return names.map(Number).filter((fd) => {
    const flags = /^flags:\s*(\d+)/m.exec(readText(`/proc/self/fdinfo/${fd}`) ?? "")?.[1];
    return fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  });
}

/** Without the variables that are between Node and the program that started it. */
function ownEntries(bytes: Uint8Array): OriginalEntry[] {
  const seen = new Set<string>();
  return splitEntries(bytes)
    .filter((entry) => !/^(EXECWIRE_START|NODE_CHANNEL_\w+)=/.test(entry))
    .map((entry) => {
      // The same replacements as in `process.env`.
      const text = isIllFormed(entry) ? encodeBytes(entry).toString() : entry;
      const [name, value] = [text.slice(0, Math.max(0, text.indexOf("="))), text.slice(text.indexOf("=") + 1)];
      const isRepeated = seen.has(name);
      seen.add(name);
      return { entry, name, value, isRepeated };
    });
}

function splitEntries(bytes: Uint8Array): string[] {
  const entries: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    entries.push(decodeBytes(bytes.subarray(from, end < 0 ? bytes.length : end)));
    from = end < 0 ? bytes.length : end + 1;
  }
  return entries;
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}
