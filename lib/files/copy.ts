// Copies files, links and trees. A link is copied as a link, never as its target.
import type { FileHandle } from "node:fs/promises";
import { lstat, readlink, symlink } from "node:fs/promises";
import { createDirectory } from "./directories.ts";
import { ancestry, childPath, type FilePath, isWithin } from "./file-path.ts";
import { FileRefusal, isErrno } from "./file-refusal.ts";
import { inBatches } from "./in-batches.ts";
import { readEntries } from "./list-directory.ts";
import { realPath } from "./metadata.ts";
import { readFully, withFile, writeFully } from "./open-file.ts";

/** Copies. A directory needs `recursive` and is merged into an existing one; FIFOs, sockets and devices in it are skipped. */
export async function copy(
  source: FilePath,
  destination: FilePath,
  { recursive }: { readonly recursive: boolean },
): Promise<void> {
  const stats = await lstat(source);
  if (stats.isDirectory()) {
    if (!recursive) throw new FileRefusal("copiesDirectory", "requires recursive: true when sourcePath is a directory");
    await refuseIntoItself(source, destination);
  } else if (!stats.isFile() && !stats.isSymbolicLink()) {
    throw new FileRefusal("copiesSpecialFile", "only supports regular files, directories, and symlinks");
  }
  await copyEntry(source, destination, stats);
}

async function copyEntry(source: FilePath, destination: FilePath, kind: Kind): Promise<void> {
  if (kind.isSymbolicLink()) return symlink(await readlink(source, { encoding: "buffer" }), destination);
  if (kind.isFile()) return copyFile(source, destination);
  if (!kind.isDirectory()) return;
  await createDirectory(destination, { recursive: true });
  await inBatches(await readEntries(source), (entry) =>
    copyEntry(childPath(source, entry.name), childPath(destination, entry.name), entry),
  );
}

/** Common to `Stats` and `Dirent`. */
interface Kind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Throws if the destination would be within the source, also through a link. */
async function refuseIntoItself(source: FilePath, destination: FilePath): Promise<void> {
  const nearest = await realPathOfNearest(destination);
  if (nearest && isWithin(nearest, await realPath(source)))
    throw new FileRefusal("copiesIntoItself", "cannot copy a directory to itself or one of its descendants");
}

/** The real path of the nearest existing ancestor, or of the path itself. */
async function realPathOfNearest(path: FilePath): Promise<FilePath | undefined> {
  for (const at of ancestry(path).toReversed()) {
    try {
      return await realPath(at);
    } catch (error) {
      if (!isErrno(error, "ENOENT")) throw error;
    }
  }
  return undefined;
}

/** Not Node's copyFile, which waits forever on a FIFO, and copies nothing from a file in /proc, whose size is 0. */
function copyFile(source: FilePath, destination: FilePath): Promise<void> {
  return withFile(source, {}, (from, original) =>
    withFile(destination, { mode: "write", allowDevices: true }, async (to, target) => {
      // The same file: nothing to do, and truncating it would destroy it.
      if (original.dev === target.dev && original.ino === target.ino) return;
      if (target.isFile()) {
        if (target.size > 0n) await to.truncate();
        const mode = original.mode & PERMISSIONS;
        if (mode !== (target.mode & PERMISSIONS)) await to.chmod(Number(mode));
      }
      await copyContents(from, to, original.size);
    }),
  );
}

/** The mode bits that are copied: not set-user-ID, set-group-ID or sticky. */
const PERMISSIONS = 0o777n;

async function copyContents(from: FileHandle, to: FileHandle, size: bigint): Promise<void> {
  // One byte more than the size, so that a single read also detects the end.
  const buffer = Buffer.allocUnsafeSlow(size > 0n && size < COPY_BYTES ? Number(size) + 1 : COPY_BYTES);
  for (let piece: Buffer = buffer; piece.length === buffer.length; ) {
    piece = await readFully(from, buffer, null);
    await writeFully(to, piece, null);
  }
}

/** Large enough that calls cost little compared with copying. */
const COPY_BYTES = 512 * 1024;
