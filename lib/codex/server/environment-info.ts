// What a client asks about this host before it runs anything here. The shell decides how the client writes command lines; the
// capabilities decide which optional methods it calls, so only what works may be announced.
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { present } from "../../../protocol/index.ts";
import { toPathUri } from "../path-uri.ts";

/** A shell: its name as clients know it, and its native path. */
export interface ShellInfo {
  readonly name: string;
  readonly path: string;
}

/** What this host is and supports. All paths except the shell's are URIs. */
export interface EnvironmentInfo {
  readonly shell: ShellInfo;
  readonly executorVersion?: string;
  /** Absent when this program's working directory was removed. */
  readonly cwd?: string;
  readonly userHomeDir: string;
  readonly platformOs: string;
  readonly prependPathDirs: readonly string[];
  /** Temporary directories besides the system's own. */
  readonly temporaryDirectories: readonly string[];
  readonly tempDir: string;
  /** Optional methods by name; absent means false. */
  readonly capabilities: Readonly<Record<string, boolean>>;
}

/** Shells for which clients can write command lines; given any other name, they refuse to run anything. */
const KNOWN_SHELLS = new Set(["bash", "zsh", "sh"]);

/** Names of operating systems in the protocol, where they differ from Node's. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: "macos", win32: "windows" };

/** Collects the information. Never rejects because something is missing. */
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
    capabilities: {
      fsWatchMissing: true,
      fileWriteStreaming: true,
      httpHeaderEnvVars: true,
      networkProxyLaunch: true,
      shellSnapshotV2: process.platform === "linux",
    },
  });
}

/** The first candidate that is executable and known to clients; `/bin/sh` if there is none. */
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
    // In a container, the user id need not exist in the user database.
    return null;
  }
}

async function ownVersion(): Promise<string | undefined> {
  try {
    const path = createRequire(import.meta.url).resolve("execwire/package.json");
    return (JSON.parse(await readFile(path, "utf8")) as { version: string }).version;
  } catch {
    // Bundled into another program: this package has no `package.json` of its own there.
    return undefined;
  }
}
