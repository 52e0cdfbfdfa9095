// The directory in which the terminals of one user find each other's server. Others may neither look into it nor put
// anything there: a server that somebody else could name would be given our commands.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { parseListen } from "./listen-address.ts";

/** What a server tells the commands of the same user. */
export interface RuntimeFile {
  readonly url: string;
  /** Without it the server asks for none. */
  readonly tokenFile?: string;
  readonly pid: number;
}

const FILE = "server.json";

/** Path of the directory, whether it exists or not. */
export function runtimeDirectory(): string {
  const { XDG_RUNTIME_DIR: own } = process.env;
  if (own && isAbsolute(own)) return join(own, "execwire");
  return join(process.platform === "win32" ? tmpdir() : "/tmp", `execwire-${process.getuid?.() ?? "user"}`);
}

/** The directory, made if need be. Throws when it is not ours alone. */
export function makeRuntimeDirectory(): string {
  const directory = runtimeDirectory();
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new Error(`cannot make the runtime directory ${directory}: ${(error as Error).message}`, { cause: error });
    }
  }
  checkIsOurs(directory);
  return directory;
}

/** What the local server has told, if its program still runs. Throws when somebody else could have written it. */
export function readRuntimeFile(): RuntimeFile | undefined {
  const file = readAnyRuntimeFile();
  return file && isRunning(file.pid) ? file : undefined;
}

/** Tells others of this server, unless they already use another one, whose pid is returned then. */
export async function publishRuntimeFile(file: RuntimeFile): Promise<number | undefined> {
  const directory = makeRuntimeDirectory();
  const earlier = readAnyRuntimeFile();
  if (earlier && earlier.pid !== process.pid && isRunning(earlier.pid) && (await answers(earlier.url))) {
    return earlier.pid;
  }
  // Left by a server that was killed; a file that the user named is the user's.
  if (earlier?.tokenFile && dirname(earlier.tokenFile) === directory && earlier.tokenFile !== file.tokenFile) {
    rmSync(earlier.tokenFile, { force: true });
  }
  // Renamed into place, so that nobody reads half a file.
  const draft = join(directory, `${FILE}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(file), { mode: 0o600 });
  renameSync(draft, join(directory, FILE));
  return undefined;
}

/** Takes back what this program told. */
export function withdrawRuntimeFile(): void {
  const path = join(runtimeDirectory(), FILE);
  if (parse(path)?.pid === process.pid) rmSync(path, { force: true });
}

function readAnyRuntimeFile(): RuntimeFile | undefined {
  const directory = runtimeDirectory();
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
  // lstat: a symlink could be turned to another place at any moment.
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) throw new Error(`the runtime directory ${directory} is not a directory; remove it`);
  if (!process.getuid) return;
  if (stats.uid !== process.getuid()) throw new Error(`the runtime directory ${directory} belongs to another user`);
  if (stats.mode & 0o077) {
    throw new Error(`the runtime directory ${directory} is open to other users; close it: chmod 700 ${directory}`);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // Not allowed is another user's program, which has our server's old number.
    return false;
  }
}

/** Whether somebody listens there: a pid alone may be another program's by now. */
function answers(url: string): Promise<boolean> {
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
