// One workspace under two names: where the caller has it, and where the processes have it.
import { isAbsolute, posix, relative, sep } from "node:path";
import { ExecwireError, refuse } from "../errors.ts";

/** The same directory on both sides. Absolute paths. */
export interface PathMapping {
  /** As the caller names it. */
  readonly local: string;
  /** As the backend's host names it. */
  readonly remote: string;
}

/** Refuses a mapping that can map nothing. */
export function checkMapping({ local, remote }: PathMapping): void {
  if (!isAbsolute(local)) refuse({ field: "workspace.local", message: `must be an absolute path, got ${local}` });
  if (!posix.isAbsolute(remote))
    refuse({ field: "workspace.remote", message: `must be an absolute path, got ${remote}` });
}

/**
 * A working directory in the words of the backend's host. None is the workspace itself. One outside of it is refused
 * (INVALID_PARAMS): what it names there is not what the caller means. By name only; symbolic links are not followed.
 */
export function mapCwd(cwd: string | undefined, { local, remote }: PathMapping): string {
  if (cwd === undefined) return posix.normalize(remote);
  if (!isAbsolute(cwd)) refuse({ field: "cwd", message: `must be an absolute path, got ${cwd}` });
  const inside = relative(local, cwd);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    const message = `cwd ${cwd} is outside of the workspace ${local}, which is ${remote} where it would run`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "cwd", cwd, workspace: local } });
  }
  return posix.join(remote, ...inside.split(sep));
}
