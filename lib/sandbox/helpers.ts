// The programs that set up a sandbox run outside of it. Each is used by its absolute path, and only if no user but
// root and ours could have put another program in its place.
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ExecwireError } from "../errors.ts";
import { isBelow } from "./file-view.ts";

/** Absolute paths of the programs. An operator may set others. */
export interface Helpers {
  readonly bubblewrap: string;
  readonly env: string;
  readonly bash: string;
  readonly prlimit: string;
  /** Enters a managed network. */
  readonly nsenter: string;
}

/** Where Linux distributions install them. */
export const SYSTEM_HELPERS: Helpers = {
  bubblewrap: "/usr/bin/bwrap",
  env: "/usr/bin/env",
  bash: "/bin/bash",
  prlimit: "/usr/bin/prlimit",
  nsenter: "/usr/bin/nsenter",
};

const PACKAGES: Readonly<Record<keyof Helpers, string>> = {
  bubblewrap: "bubblewrap",
  env: "coreutils",
  bash: "bash",
  prlimit: "util-linux",
  nsenter: "util-linux",
};

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** The real paths of the helpers. Rejects with SANDBOX_UNAVAILABLE for one that is missing or that others could replace. */
export async function trustHelpers(helpers: Helpers): Promise<Helpers> {
  const trusted = await Promise.all(
    Object.entries(helpers).map(async ([name, path]) => [name, await trust(path, PACKAGES[name as keyof Helpers])]),
  );
  return Object.fromEntries(trusted) as Helpers;
}

/** Throws if a sandbox could write to a helper, and so replace it for the next one. */
export function refuseWritable(helpers: Helpers, writable: readonly string[]): void {
  for (const path of Object.values(helpers)) {
    const root = writable.find((directory) => directory !== "/" && (path === directory || isBelow(path, directory)));
    if (root !== undefined)
      throw unavailable(`${path}, which sets up sandboxes, is in ${root}, which would be writable`);
  }
}

/** SANDBOX_UNAVAILABLE: nothing was run. */
export function unavailable(reason: string): ExecwireError {
  return new ExecwireError("SANDBOX_UNAVAILABLE", `sandbox unavailable: ${reason}`);
}

async function trust(path: string, packageName: string): Promise<string> {
  const real = await realpath(path).catch(() => {
    throw unavailable(`${path} does not exist; install the package ${packageName}`);
  });
  for (let part = real; ; part = dirname(part)) {
    const { uid, mode } = await stat(part);
    if (uid !== 0 && uid !== process.geteuid?.()) throw unavailable(`${part} belongs to another user (uid ${uid})`);
    // In a sticky directory, only the owner of a file replaces it.
    if ((mode & OTHERS_MAY_WRITE) !== 0 && (mode & STICKY) === 0)
      throw unavailable(`other users may write to ${part}, and so replace ${path}`);
    if (part === "/") return real;
  }
}
