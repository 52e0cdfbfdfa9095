// Paths as bytes: a POSIX name may hold any byte but `/` and NUL, and a name that is not UTF-8 would not survive as a string.
// This file handles paths as latin1 text, in which every byte is one character.
import { basename, dirname, sep } from "node:path";

/** An absolute native path without a trailing separator, as every operation of this folder expects it. */
export type FilePath = Buffer;

/** A key for sets and maps: equal for equal bytes. */
export function keyOf(path: Buffer): string {
  return path.toString("latin1");
}

/** The path of an entry of a directory. */
export function childPath(directory: FilePath, name: Buffer): FilePath {
  const separator = keyOf(directory).endsWith(sep) ? "" : sep;
  return Buffer.concat([directory, Buffer.from(separator), name]);
}

/** The parent directory; undefined for the root. */
export function parentPath(path: FilePath): FilePath | undefined {
  const parent = dirname(keyOf(path));
  return parent === keyOf(path) ? undefined : Buffer.from(parent, "latin1");
}

/** The last name of a path; empty for the root. */
export function nameOf(path: FilePath): Buffer {
  return Buffer.from(basename(keyOf(path)), "latin1");
}

/** The root, every directory below it, and the path itself. Views of one buffer: copies would need quadratic memory. */
export function ancestry(path: FilePath): readonly FilePath[] {
  if (!parentPath(path)) return [path];
  const paths: FilePath[] = [];
  for (let at = dirname(keyOf(path)); ; at = dirname(at)) {
    // A directory's path excludes the separator after it, except for the root.
    paths.push(path.subarray(0, at.length));
    if (dirname(at) === at) break;
  }
  return [...paths.reverse(), path];
}

/** Whether a path is the directory or below it. */
export function isWithin(path: FilePath, directory: FilePath): boolean {
  return path.equals(directory) || keyOf(path).startsWith(keyOf(childPath(directory, Buffer.alloc(0))));
}
