// Reaching a file without following any symbolic link on the way. On Linux each directory is held open while the next one
// is opened inside it, so that nobody can put a link in its place meanwhile; elsewhere each one is only looked at.
import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { constants as system } from "node:os";
import { ancestry, childPath, type FilePath, nameOf } from "./file-path.ts";

/** Opens for being passed through only, which needs no right to read. From Linux's fcntl.h; Node does not name it. */
const O_PATH = 0o10000000;

/** Calls with a path of the same file that no link can lead astray. Fails with ENOTDIR where a directory is a link. */
export async function throughRealDirectories<T>(path: FilePath, use: (path: FilePath) => Promise<T>): Promise<T> {
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
      const inside = await open(held(directory.fd, next), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      await directory.close();
      directory = inside;
    }
    return await use(held(directory.fd, last));
  } finally {
    await directory.close();
  }
}

function held(fd: number, path: FilePath): FilePath {
  return childPath(Buffer.from(`/proc/self/fd/${fd}`), nameOf(path));
}

function notADirectory(path: FilePath): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, open '${path}'`), {
    code: "ENOTDIR",
    errno: -system.errno.ENOTDIR,
  });
}
