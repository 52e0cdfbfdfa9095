// Looking at a path from the root down, so that later it can be told whether anything on the way to it has changed.
import { lstat } from "node:fs/promises";
import { ancestry, type FilePath, keyOf, nameOf, parentPath } from "./file-path.ts";
import { isErrno } from "./file-refusal.ts";

/** Whether something is to be at the end of a path, or nothing. */
export interface Expectation {
  readonly path: FilePath;
  readonly isPresent: boolean;
}

/** What was found on the way to a path. */
export interface Look {
  /** Each name on the way, down to the first that is missing. */
  readonly spots: readonly { readonly directory: FilePath; readonly name: Buffer }[];
  /** The directory that holds the last of them. */
  readonly nearest: FilePath;
  /** Differs when something has changed that matters. */
  readonly stamp: string;
}

/** Looks at each name on the way to a path. Undefined when the path is not as it should be, or its state cannot be told. */
export async function lookAt({ path, isPresent }: Expectation): Promise<Look | undefined> {
  const spots: Look["spots"][number][] = [];
  let stamp = "";
  let nearest = path;
  for (const at of ancestry(path)) {
    const directory = parentPath(at);
    if (directory) {
      spots.push({ directory, name: nameOf(at) });
      nearest = directory;
    }
    try {
      const stats = await lstat(at, { bigint: true });
      const isEnd = at === path;
      if (stats.isSymbolicLink() || (isEnd && !isPresent) || (!isEnd && !stats.isDirectory())) return undefined;
      const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs } = stats;
      stamp = `${dev}:${ino}`;
      if (isEnd) stamp += `:${mode}:${uid}:${gid}`;
      // The times of a directory change with everything in it.
      if (isEnd && !stats.isDirectory()) stamp += `:${size}:${mtimeNs}:${ctimeNs}`;
    } catch (error) {
      if (isPresent || !isErrno(error, "ENOENT")) return undefined;
      return { spots, nearest, stamp: `${stamp}/${keyOf(nameOf(at))}` };
    }
  }
  return { spots, nearest, stamp };
}
