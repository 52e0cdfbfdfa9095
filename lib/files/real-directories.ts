// Reaches a file without following symbolic links. On Linux each directory is opened relative to its open parent, so that no
// other process can replace one by a link meanwhile (no TOCTOU race); elsewhere each one is only checked.
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { constants as system } from "node:os";
import { ancestry, childPath, type FilePath, nameOf } from "./file-path.ts";

/** Opens a directory only to resolve paths beneath it, which needs no read permission. From Linux's fcntl.h; not in Node. */
const O_PATH = 0o10000000;

/** Calls `use` with an equivalent path without links in its directories. Fails with ENOTDIR if one of them is a link. */
export async function withNoFollowPath<T>(path: FilePath, use: (path: FilePath) => Promise<T>): Promise<T> {
  const [root = path, ...rest] = ancestry(path);
  const last = rest.pop();
  if (last === undefined) return use(path);
  if (process.platform !== "linux") {
    for (const directory of rest) if ((await lstat(directory)).isSymbolicLink()) throw notADirectory(directory);
    return use(path);
  }
  let directory = await open(root, O_PATH | constants.O_DIRECTORY);
  try {
    for (const next of rest) {
      const inside = await open(pathBeneath(directory.fd, next), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      await directory.close();
      directory = inside;
    }
    return await use(pathBeneath(directory.fd, last));
  } finally {
    await directory.close();
  }
}

function pathBeneath(fd: number, path: FilePath): FilePath {
  return childPath(Buffer.from(`/proc/self/fd/${fd}`), nameOf(path));
}

function notADirectory(path: FilePath): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, open '${path}'`), {
    code: "ENOTDIR",
    errno: -system.errno.ENOTDIR,
  });
}
