// What a client wants to know about this host before it runs anything here. It decides by the shell how to write command
// lines, and by the capabilities which optional methods to call: announce only what works.

import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { present } from "../../../protocol/index.ts";
import { toPathUri } from "../path-uri.ts";

/** A shell: its name as clients know it, and its path, which is a native one. */
export interface ShellInfo {
  readonly name: string;
  readonly path: string;
}

/** What this host is and can. All paths but the shell's are URIs. */
export interface EnvironmentInfo {
  readonly shell: ShellInfo;
  readonly executorVersion?: string;
  /** Absent when it was removed. */
  readonly cwd?: string;
  readonly userHomeDir: string;
  readonly platformOs: string;
  readonly prependPathDirs: readonly string[];
  /** Those beside the system's own. */
  readonly temporaryDirectories: readonly string[];
  readonly tempDir: string;
  /** Absent is false. */
  readonly capabilities: Readonly<Record<string, boolean>>;
}

/** Shells whose command lines clients can write; with another name they refuse to run anything. */
const KNOWN_SHELLS = new Set(["bash", "zsh", "sh"]);

/** The names of systems in the protocol, where Node has others. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: "macos", win32: "windows" };

/** Looks around. Never rejects for what is merely missing. */
export async function environmentInfo(env: NodeJS.ProcessEnv = process.env): Promise<EnvironmentInfo> {
  const version = await ownVersion();
  const cwd = ownDirectory();
  return present({
    shell: await findShell([loginShell(), env.SHELL, "/bin/bash", "/bin/sh"]),
    executorVersion: version,
    cwd: cwd === undefined ? undefined : toPathUri(cwd),
    userHomeDir: toPathUri(env.HOME || homedir()),
    platformOs: SYSTEMS[process.platform] ?? process.platform,
    prependPathDirs: [],
    temporaryDirectories: env.TMPDIR ? [toPathUri(env.TMPDIR)] : [],
    tempDir: toPathUri(env.TMPDIR || tmpdir()),
    capabilities: { fsWatchMissing: true, fileWriteStreaming: true, httpHeaderEnvVars: true },
  });
}

/** The first of the candidates that can be run and that clients know; `/bin/sh` if there is none. */
export async function findShell(candidates: readonly (string | null | undefined)[]): Promise<ShellInfo> {
  for (const path of candidates) {
    if (!path || path !== resolve(path) || !KNOWN_SHELLS.has(basename(path))) continue;
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return { name: basename(path), path };
  }
  return { name: "sh", path: "/bin/sh" };
}

function ownDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

function loginShell(): string | null {
  try {
    return userInfo().shell;
  } catch {
    // The user id of a container need not be in its list of users.
    return null;
  }
}

async function ownVersion(): Promise<string | undefined> {
  try {
    const path = createRequire(import.meta.url).resolve("execwire/package.json");
    return (JSON.parse(await readFile(path, "utf8")) as { version: string }).version;
  } catch {
    // Bundled into another program: it has no package of its own.
    return undefined;
  }
}
