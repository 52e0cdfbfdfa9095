// Snapshots of a path and its ancestors, to detect later whether any of them has changed.
import { lstat } from "node:fs/promises";
import { ancestry, type FilePath, keyOf, nameOf, parentPath } from "./file-path.ts";
import { isErrno } from "./file-refusal.ts";

/** A path that must exist, or must not. */
export interface ExpectedPath {
  readonly path: FilePath;
  readonly isPresent: boolean;
}

/** The state of a path and its ancestors. */
export interface PathSnapshot {
  /** Each entry from the root down to the path, or to the first one missing. */
  readonly entries: readonly { readonly directory: FilePath; readonly name: Buffer }[];
  /** The directory of the last entry. */
  readonly nearest: FilePath;
  /** Two snapshots with the same stamp show no relevant change. */
  readonly stamp: string;
}

/** Takes a snapshot. Undefined if the path is not as expected, has a link in it, or its state cannot be determined. */
export async function snapshotPath({ path, isPresent }: ExpectedPath): Promise<PathSnapshot | undefined> {
  const entries: PathSnapshot["entries"][number][] = [];
  let stamp = "";
  let nearest = path;
  for (const at of ancestry(path)) {
    const directory = parentPath(at);
    if (directory) {
      entries.push({ directory, name: nameOf(at) });
      nearest = directory;
    }
    try {
      const stats = await lstat(at, { bigint: true });
      const isEnd = at === path;
      if (stats.isSymbolicLink() || (isEnd && !isPresent) || (!isEnd && !stats.isDirectory())) return undefined;
      const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = stats;
      stamp = `${dev}:${ino}`;
      if (isEnd) stamp += `:${mode}:${uid}:${gid}`;
      // Not the times of a directory: they change with every entry.
      if (isEnd && !stats.isDirectory()) stamp += `:${size}:${mtimeNs}:${ctimeNs}`;
    } catch (error) {
      if (isPresent || !isErrno(error, "ENOENT")) return undefined;
      return { entries, nearest, stamp: `${stamp}/${keyOf(nameOf(at))}` };
    }
  }
  return { entries, nearest, stamp };
}
