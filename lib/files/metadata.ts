// Metadata of a path, read without opening it.
import { lstat, realpath, stat } from "node:fs/promises";
import type { FilePath } from "./file-path.ts";
import { FileRefusal } from "./file-refusal.ts";
import { withNoFollowPath } from "./real-directories.ts";

/** For a link, everything but `isSymlink` describes its target. FIFOs, sockets and devices are neither file nor directory. */
export interface Metadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  readonly size: number;
  /** 0 if the file system does not record it. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

/** Reads metadata. With `followSymlinks: false` a link at the end is refused as `symbolicLink`; one before fails with ENOTDIR. */
export async function readMetadata(path: FilePath, { followSymlinks = true } = {}): Promise<Metadata> {
  const itself = followSymlinks
    ? await lstat(path)
    : await withNoFollowPath(path, (noFollowPath) => lstat(noFollowPath));
  const isSymlink = itself.isSymbolicLink();
  if (isSymlink && !followSymlinks) throw new FileRefusal("symbolicLink", "path contains a symbolic link");
  const stats = isSymlink ? await stat(path) : itself;
  return {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    isSymlink,
    size: stats.size,
    createdAtMs: Math.max(0, Math.floor(stats.birthtimeMs)),
    modifiedAtMs: Math.max(0, Math.floor(stats.mtimeMs)),
  };
}

/** The path with all links resolved. */
export function realPath(path: FilePath): Promise<FilePath> {
  return realpath(path, { encoding: "buffer" });
}
