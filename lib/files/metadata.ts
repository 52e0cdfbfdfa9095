// What is known about a path without opening it.
import { lstat, realpath, stat } from "node:fs/promises";
import type { FilePath } from "./file-path.ts";
import { FileRefusal } from "./file-refusal.ts";
import { throughRealDirectories } from "./real-directories.ts";

/** About a path; all but `isSymlink` is said of what a link leads to. A FIFO, a socket, a device is neither file nor directory. */
export interface Metadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isSymlink: boolean;
  readonly size: number;
  /** 0 where the file system does not know it. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

/** Looks at a path. Without following links, one in the path is refused as `symbolicLink`, or fails with ENOTDIR. */
export async function readMetadata(path: FilePath, { followSymlinks = true } = {}): Promise<Metadata> {
  const itself = followSymlinks ? await lstat(path) : await throughRealDirectories(path, (held) => lstat(held));
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

/** The path with every link resolved. */
export function realPath(path: FilePath): Promise<FilePath> {
  return realpath(path, { encoding: "buffer" });
}
