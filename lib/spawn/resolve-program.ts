// Finds a program as execvp(3) does, but in the child's PATH and relative to the child's directory. posix_spawnp would use ours.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ExecwireError } from "../errors.ts";
import { toPath } from "./byte-strings.ts";
import { spawnFailed } from "./spawn-error.ts";

/** The search path of execvp(3) if the environment has no PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";

/** The path of `name`, perhaps relative to `cwd` (default: our directory), as scripts see it in `$0`. Rejects with SPAWN_FAILED (not-found, not-executable, is-directory). */
export async function resolveProgram(name: string, cwd: string | undefined, path = DEFAULT_PATH): Promise<string> {
  if (name.includes("/")) return name;
  let refused: ExecwireError | undefined;
  for (const folder of path.split(":")) {
    // An empty entry means the current directory.
    const candidate = below(cwd, join(folder || ".", name));
    const found = await look(candidate);
    if (found === true) return candidate;
    refused ??= found;
  }
  throw refused ?? spawnFailed("not-found", `program ${name} is not in the PATH of the child: ${path}`, name);
}

/** Without a directory, a relative path stays so: ours may have been removed. With a slash, or it would be searched again. */
function below(cwd: string | undefined, path: string): string {
  if (cwd !== undefined) return resolve(cwd, path);
  return path.includes("/") ? path : `./${path}`;
}

/** True if the file is a program; an error if it cannot be executed; undefined if it does not exist. */
async function look(candidate: string): Promise<true | ExecwireError | undefined> {
  try {
    await access(toPath(candidate), constants.X_OK);
    if ((await stat(toPath(candidate))).isFile()) return true;
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
