// Finds a program as execvp(3) would, but in the CHILD's PATH and from the CHILD's directory. posix_spawnp would search ours.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { ExecwireError } from "../errors.ts";
import { spawnFailed } from "./spawn-error.ts";

/** What execvp(3) uses where the environment has no PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";

/** The absolute path of `name`; rejects with SPAWN_FAILED (not-found, not-executable, is-directory). */
export async function resolveProgram(name: string, cwd: string, path = DEFAULT_PATH): Promise<string> {
  if (name.includes("/")) return isAbsolute(name) ? name : resolve(cwd, name);
  let refused: ExecwireError | undefined;
  for (const folder of path.split(":")) {
    // An empty entry means the current directory.
    const candidate = join(resolve(cwd, folder), name);
    const found = await look(candidate);
    if (found === true) return candidate;
    refused ??= found;
  }
  throw refused ?? spawnFailed("not-found", `program ${name} is not in the PATH of the child: ${path}`, name);
}

/** True for a program; the reason for something of that name that cannot be run; undefined where there is nothing. */
async function look(candidate: string): Promise<true | ExecwireError | undefined> {
  try {
    await access(candidate, constants.X_OK);
    if ((await stat(candidate)).isFile()) return true;
    return spawnFailed("is-directory", `${candidate} is a directory, not a program`, candidate);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return undefined;
    return spawnFailed(
      "not-executable",
      `${candidate} is not executable; chmod +x it, or name its interpreter`,
      candidate,
    );
  }
}
