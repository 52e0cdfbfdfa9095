// Copying files, links and trees. What a link leads to is never copied in its place.
import type { FileHandle } from "node:fs/promises";
import { lstat, readlink, symlink } from "node:fs/promises";
import { createDirectory } from "./directories.ts";
import { ancestry, childPath, type FilePath, isWithin } from "./file-path.ts";
import { FileRefusal, isErrno } from "./file-refusal.ts";
import { inBatches } from "./in-batches.ts";
import { readEntries } from "./list-directory.ts";
import { realPath } from "./metadata.ts";
import { readFully, withFile, writeFully } from "./open-file.ts";

/** Copies. A directory needs `recursive`, and is merged into one that is there; a FIFO, a socket, a device in it is left out. */
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

/** What stats and entries of a directory have in common. */
interface Kind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Throws when the destination would be in the source, also by way of a link. */
async function refuseIntoItself(source: FilePath, destination: FilePath): Promise<void> {
  const nearest = await realPathOfNearest(destination);
  if (nearest && isWithin(nearest, await realPath(source)))
    throw new FileRefusal("copiesIntoItself", "cannot copy a directory to itself or one of its descendants");
}

/** The real path of the closest thing that exists. */
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

/** Not Node's copyFile: that would wait for ever on a FIFO, and copies nothing of a file in /proc, whose size reads 0. */
function copyFile(source: FilePath, destination: FilePath): Promise<void> {
  return withFile(source, {}, (from, original) =>
    withFile(destination, { mode: "write", allowDevices: true }, async (to, target) => {
      // Onto itself nothing is to be done; to truncate it would lose it.
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

/** Those that are copied; to set an owner's identity or a sticky bit is another decision. */
const PERMISSIONS = 0o777n;

async function copyContents(from: FileHandle, to: FileHandle, size: bigint): Promise<void> {
  // One byte more than there is shows the end in the same read.
  const buffer = Buffer.allocUnsafeSlow(size > 0n && size < COPY_BYTES ? Number(size) + 1 : COPY_BYTES);
  for (let piece: Buffer = buffer; piece.length === buffer.length; ) {
    piece = await readFully(from, buffer, null);
    await writeFully(to, piece, null);
  }
}

/** Large enough that the work is copying rather than calling. */
const COPY_BYTES = 512 * 1024;
