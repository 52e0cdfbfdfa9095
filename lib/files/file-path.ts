// Paths as bytes: a POSIX name is any bytes but `/` and NUL, and one that is no UTF-8 would not survive as a string.
// Inside this file bytes are looked at as latin1 text, where every byte is one character.
import { basename, dirname, sep } from "node:path";

/** An absolute native path without a trailing separator, as every operation of this folder takes it. */
export type FilePath = Buffer;

/** A key for sets and maps: the same for the same bytes. */
export function keyOf(path: Buffer): string {
  return path.toString("latin1");
}

/** The path of a name in a directory. */
export function childPath(directory: FilePath, name: Buffer): FilePath {
  const separator = keyOf(directory).endsWith(sep) ? "" : sep;
  return Buffer.concat([directory, Buffer.from(separator), name]);
}

/** The directory a path is in; undefined for the root. */
export function parentPath(path: FilePath): FilePath | undefined {
  const parent = dirname(keyOf(path));
  return parent === keyOf(path) ? undefined : Buffer.from(parent, "latin1");
}

/** The last name of a path; empty for the root. */
export function nameOf(path: FilePath): Buffer {
  return Buffer.from(basename(keyOf(path)), "latin1");
}

/** The root and every directory below it down to the path itself. Views of one path: copies of all would be quadratic. */
export function ancestry(path: FilePath): readonly FilePath[] {
  if (!parentPath(path)) return [path];
  const paths: FilePath[] = [];
  for (let at = dirname(keyOf(path)); ; at = dirname(at)) {
    // Within a path a directory is what stands before a separator; the root keeps its own.
    paths.push(path.subarray(0, at.length));
    if (dirname(at) === at) break;
  }
  return [...paths.reverse(), path];
}

/** Whether a path is the directory or something below it. */
export function isWithin(path: FilePath, directory: FilePath): boolean {
  return path.equals(directory) || keyOf(path).startsWith(keyOf(childPath(directory, Buffer.alloc(0))));
}
