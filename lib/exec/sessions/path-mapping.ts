// Maps a workspace between two machines: its path at the caller and its path at the processes.
import { isAbsolute, posix, relative, sep } from "node:path";
import { ExecwireError, refuse } from "../../errors.ts";

/** The absolute paths of one directory on both sides. */
export interface PathMapping {
  /** Its path at the caller. */
  readonly local: string;
  /** Its path on the backend's host. */
  readonly remote: string;
}

/** Throws INVALID_PARAMS if a path is not absolute. */
export function checkMapping({ local, remote }: PathMapping): void {
  if (!isAbsolute(local)) refuse({ field: "workspace.local", message: `must be an absolute path, got ${local}` });
  if (!posix.isAbsolute(remote))
    refuse({ field: "workspace.remote", message: `must be an absolute path, got ${remote}` });
}

/**
 * Maps a working directory to its path on the backend's host; without one, it is the workspace. Throws INVALID_PARAMS outside of
 * the workspace, where the same path is another directory. Compares paths only; symbolic links are not followed.
 */
export function mapCwd(cwd: string | undefined, { local, remote }: PathMapping): string {
  if (cwd === undefined) return posix.normalize(remote);
  if (!isAbsolute(cwd)) refuse({ field: "cwd", message: `must be an absolute path, got ${cwd}` });
  const inside = relative(local, cwd);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    const message = `cwd ${cwd} is outside of the workspace ${local}, which is ${remote} on the host of the processes`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "cwd", cwd, workspace: local } });
  }
  return posix.join(remote, ...inside.split(sep));
}
