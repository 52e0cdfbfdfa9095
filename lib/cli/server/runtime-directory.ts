// The directory where the terminals of one user find the local server. Other users must not read or write it: a server that
// another user could announce there would receive our commands.
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { parseListen } from "./listen-address.ts";

/** What a server publishes for the commands of the same user. */
export interface RuntimeFile {
  readonly url: string;
  /** Absent when the server needs no token. */
  readonly tokenFile?: string;
  readonly pid: number;
}

const FILE = "server.json";

/**
 * Where a server publishes itself, best first; the directories may not exist. XDG_RUNTIME_DIR is passed on to other users by su,
 * sudo and cron, and may be set where it was never created: then it does not count.
 */
export function runtimeDirectories(): readonly string[] {
  const { XDG_RUNTIME_DIR: own } = process.env;
  const shared = join(process.platform === "win32" ? tmpdir() : "/tmp", `execwire-${process.getuid?.() ?? "user"}`);
  return own && isUsable(own) ? [join(own, "execwire"), shared] : [shared];
}

/** Why a server does not use the directory that the environment names; undefined if it does. */
export function whyNotNamed(): string | undefined {
  const { XDG_RUNTIME_DIR: own } = process.env;
  if (!own || isUsable(own)) return undefined;
  return `XDG_RUNTIME_DIR is ${own}, which does not exist or belongs to another user; using ${runtimeDirectories()[0]}`;
}

function isUsable(directory: string): boolean {
  const stats = isAbsolute(directory) ? statSync(directory, { throwIfNoEntry: false }) : undefined;
  return stats?.isDirectory() === true && (!process.getuid || stats.uid === process.getuid());
}

/** Creates the directory if needed and returns its path. Throws when other users own it or have access. */
export function makeRuntimeDirectory(): string {
  const [directory = ""] = runtimeDirectories();
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new Error(`cannot create the runtime directory ${directory}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  checkIsOurs(directory);
  removeStale(directory);
  return directory;
}

/** Removes the tokens and drafts of programs that were killed. Their names end with the pid. */
function removeStale(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = /^(?:token-|server\.json\.|starting-)(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(directory, name), { force: true });
  }
}

/** The file of the local server, if its process is still running. Throws when another user could have written it. */
export function readRuntimeFile(): RuntimeFile | undefined {
  for (const directory of runtimeDirectories()) {
    const file = readFrom(directory);
    if (file && isRunning(file.pid)) return file;
  }
  return undefined;
}

/** Publishes this server, unless another one is already published and reachable; then returns the pid of that one. */
export async function publishRuntimeFile(file: RuntimeFile): Promise<number | undefined> {
  const directory = makeRuntimeDirectory();
  const earlier = readFrom(directory);
  if (earlier && earlier.pid !== process.pid && isRunning(earlier.pid) && (await isListening(earlier.url))) {
    return earlier.pid;
  }
  // Renamed into place, so that no reader sees half a file.
  const draft = join(directory, `${FILE}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(file), { mode: 0o600 });
  renameSync(draft, join(directory, FILE));
  return undefined;
}

/** Removes the file that this program published. */
export function withdrawRuntimeFile(): void {
  for (const directory of runtimeDirectories()) {
    const path = join(directory, FILE);
    if (parse(path)?.pid === process.pid) rmSync(path, { force: true });
  }
}

function readFrom(directory: string): RuntimeFile | undefined {
  if (!lstatSync(directory, { throwIfNoEntry: false })) return undefined;
  checkIsOurs(directory);
  return parse(join(directory, FILE));
}

function parse(path: string): RuntimeFile | undefined {
  try {
    const file = JSON.parse(readFileSync(path, "utf8"));
    return typeof file?.url === "string" && Number.isSafeInteger(file.pid) && file.pid > 0 ? file : undefined;
  } catch {
    return undefined;
  }
}

function checkIsOurs(directory: string): void {
  // lstat: the target of a symlink could change at any moment.
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) throw new Error(`the runtime directory ${directory} is not a directory; remove it`);
  if (!process.getuid) return;
  if (stats.uid !== process.getuid())
    throw new Error(`the runtime directory ${directory} belongs to another user; set XDG_RUNTIME_DIR to your own`);
  if (stats.mode & 0o077) {
    throw new Error(`the runtime directory ${directory} is accessible to other users; run: chmod 700 ${directory}`);
  }
}

/** Whether a process of ours has this pid. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // EPERM: another user's process now has the pid of our former server.
    return false;
  }
}

/** Whether a server listens at the URL. The pid alone is no proof: another program may have it by now. */
export function isListening(url: string): Promise<boolean> {
  const address = parseListen(url);
  if (address === "stdio") return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      resolve(true);
      socket.destroy();
    });
  });
}
