// The server of this user, for programs that come and go, such as one ssh connection after the other: the one that is published, or
// a new one in the background.
import { spawn } from "node:child_process";
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { NoServerError, say } from "../report.ts";
import {
  isListening,
  isRunning,
  makeRuntimeDirectory,
  type RuntimeFile,
  readRuntimeFile,
} from "./runtime-directory.ts";

/** How long another program may take to start a server. */
const START_MS = 15_000;
const LOOK_AGAIN_MS = 50;

/** Finds the server, or starts one with these arguments of `serve`. Rejects with NoServerError. */
export async function findOrStartServer(args: readonly string[]): Promise<RuntimeFile> {
  const directory = makeRuntimeDirectory();
  const lock = join(directory, "starting");
  for (const end = Date.now() + START_MS; Date.now() < end; await pause(LOOK_AGAIN_MS)) {
    const found = await findServer();
    if (found) return attached(found);
    if (!takeLock(lock)) continue;
    try {
      const started = await findServer();
      return started ? attached(started) : await start(args, join(directory, "serve.log"));
    } finally {
      rmSync(lock, { force: true });
    }
  }
  throw new NoServerError(
    `another program is starting a server, which is not ready yet; if there is none, remove ${lock}`,
  );
}

async function findServer(): Promise<RuntimeFile | undefined> {
  const file = readRuntimeFile();
  return file && (await isListening(file.url)) ? file : undefined;
}

function attached(file: RuntimeFile): RuntimeFile {
  say(`attached to the server with pid ${file.pid} at ${file.url}`);
  return file;
}

/** Creates the lock, which has the pid of its owner; false if a running program has it. */
function takeLock(path: string): boolean {
  const draft = `${path}-${process.pid}`;
  // Linked with its content: a lock without a pid would stay for good if its owner were killed at that moment.
  writeFileSync(draft, `${process.pid}`, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  if (!isOwned(path)) removeLock(path, draft);
  return false;
}

function isOwned(path: string): boolean {
  const owner = Number(readOrEmpty(path));
  return owner > 0 && isRunning(owner);
}

/** Removes the lock of a program that is gone. Another one may do the same and take the lock at any moment. */
function removeLock(path: string, aside: string): void {
  try {
    renameSync(path, aside);
    if (isOwned(aside)) linkSync(aside, path);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

async function start(args: readonly string[], logFile: string): Promise<RuntimeFile> {
  const log = openSync(logFile, "w", 0o600);
  const argv = [...process.execArgv, process.argv[1] as string, "serve", ...args];
  // In a session of its own, with no descriptor of ours: it outlives us and our terminal.
  const child = spawn(process.execPath, argv, { detached: true, cwd: homedir(), stdio: ["ignore", "pipe", log] });
  closeSync(log);
  child.on("error", () => undefined);
  const stdout = child.stdout as Readable;
  // Its URL, once it listens.
  let isReady = false;
  for await (const _url of createInterface(stdout)) {
    isReady = true;
    break;
  }
  stdout.destroy();
  child.unref();
  const file = isReady ? readRuntimeFile() : undefined;
  if (file && file.pid === child.pid) {
    say(`started a server (pid ${file.pid}), which keeps running; its log is ${logFile}`);
    return file;
  }
  child.kill();
  if (file) return file;
  const last = readOrEmpty(logFile).trim().split("\n").at(-1) ?? "";
  throw new NoServerError(`the server that was started does not answer: ${last || "it printed nothing"}`);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
