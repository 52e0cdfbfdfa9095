// Creates directories and removes trees.
import { lstat, mkdir, rmdir, stat, unlink } from "node:fs/promises";
import { childPath, type FilePath, parentPath } from "./file-path.ts";
import { FileRefusal, isErrno } from "./file-refusal.ts";
import { inBatches } from "./in-batches.ts";
import { readEntries } from "./list-directory.ts";

/** Creates a directory; `recursive` also creates its parents, and accepts an existing directory. */
export async function createDirectory(path: FilePath, { recursive }: { readonly recursive: boolean }): Promise<void> {
  // Not Node's own `recursive`, which reports no error for a dangling link in the path.
  try {
    await mkdir(path);
  } catch (error) {
    const parent = parentPath(path);
    if (!recursive) throw error;
    if (isErrno(error, "ENOENT") && parent) {
      await createDirectory(parent, { recursive });
      await mkdir(path).catch((again) => acceptDirectory(path, again));
    } else {
      await acceptDirectory(path, error);
    }
  }
}

async function acceptDirectory(path: FilePath, error: unknown): Promise<void> {
  const isDirectory = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isDirectory) throw error;
}

/** How something is removed. */
export interface RemoveOptions {
  /** Also removes a directory that is not empty. */
  readonly recursive: boolean;
  /** A missing path is no error. */
  readonly force: boolean;
}

/** Removes a file, a link (never its target) or a directory. */
export async function remove(path: FilePath, { recursive, force }: RemoveOptions): Promise<void> {
  if (parentPath(path) === undefined) throw new FileRefusal("removesRoot", "the root directory cannot be removed");
  try {
    await removeEntry(path, { isDirectory: (await lstat(path)).isDirectory(), recursive });
  } catch (error) {
    if (!force || !isErrno(error, "ENOENT")) throw error;
  }
}

async function removeEntry(
  path: FilePath,
  { isDirectory, recursive }: { readonly isDirectory: boolean; readonly recursive: boolean },
): Promise<void> {
  if (!isDirectory) return unlink(path);
  if (recursive) {
    // Read to the end first: removing entries while a directory is read may skip others.
    await inBatches(await readEntries(path), async (entry) => {
      try {
        await removeEntry(childPath(path, entry.name), { isDirectory: entry.isDirectory(), recursive });
      } catch (error) {
        // Another process removed it first.
        if (!isErrno(error, "ENOENT")) throw error;
      }
    });
  }
  await rmdir(path);
}
