// Walks a directory tree, breadth first and in the order of names, within limits. It always ends: without links there are no
// cycles, and when links are followed no directory is entered twice.
import { lstat, stat } from "node:fs/promises";
import { childPath, type FilePath, keyOf } from "./file-path.ts";
import { type DirectoryEntry, listDirectory } from "./list-directory.ts";

/** Limits and links of a walk. */
export interface WalkOptions {
  /** Levels of directories entered below the root; 0 lists only the root's entries. */
  readonly maxDepth: number;
  /** Most directories entered, including the root. */
  readonly maxDirectories: number;
  /** Most entries read, whether listed or not. */
  readonly maxEntries: number;
  readonly followDirectorySymlinks: boolean;
  /** Directories whose name begins with a dot are listed but not entered. */
  readonly pruneHiddenDirectories?: boolean;
}

/** The result of a walk. */
export interface WalkResult {
  readonly entries: readonly { readonly path: FilePath; readonly kind: "file" | "directory" }[];
  /** Directories that could not be read. */
  readonly errors: readonly { readonly path: FilePath; readonly error: unknown }[];
  /** Whether a limit other than `maxDepth` left out entries or directories. */
  readonly truncated: boolean;
}

/** Walks a tree. Links to files, FIFOs, sockets and devices are not listed. A root that is not a directory has no entries. */
export async function walk(root: FilePath, options: WalkOptions): Promise<WalkResult> {
  const { maxDepth, maxDirectories, maxEntries, followDirectorySymlinks, pruneHiddenDirectories = false } = options;
  const entries: WalkResult["entries"][number][] = [];
  const errors: WalkResult["errors"][number][] = [];
  const queue: { readonly path: FilePath; readonly depth: number }[] = [];
  const entered = new Set<string>();
  let truncated = false;
  let lookedAt = 0;

  const enter = async (path: FilePath, depth: number): Promise<void> => {
    const identity = followDirectorySymlinks ? await identityOf(path) : keyOf(path);
    if (entered.has(identity)) return;
    if (entered.size === maxDirectories) {
      truncated = true;
      return;
    }
    entered.add(identity);
    queue.push({ path, depth });
  };

  const isLink = (await lstat(root)).isSymbolicLink();
  const isDirectory = (await stat(root)).isDirectory();
  if (isDirectory && (followDirectorySymlinks || !isLink)) await enter(root, 0);
  // The queue grows during the loop.
  for (const { path, depth } of queue) {
    try {
      for (const entry of inOrder(await listDirectory(path))) {
        if (lookedAt === maxEntries) return { entries, errors, truncated: true };
        lookedAt += 1;
        const { name, kind } = entry;
        if (kind === "other" || (entry.isLink && !(kind === "directory" && followDirectorySymlinks))) continue;
        entries.push({ path: childPath(path, name), kind });
        if (kind === "file" || depth === maxDepth || (pruneHiddenDirectories && name[0] === DOT)) continue;
        await enter(childPath(path, name), depth + 1);
      }
    } catch (error) {
      errors.push({ path, error });
    }
  }
  return { entries, errors, truncated };
}

const DOT = 0x2e;

/** Sorts by the bytes of the names; latin1 strings compare several times faster than buffers. */
function inOrder(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const byKey = new Map(entries.map((entry) => [keyOf(entry.name), entry]));
  return [...byKey.keys()].sort().map((key) => byKey.get(key)!);
}

async function identityOf(path: FilePath): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev}:${ino}`;
}
