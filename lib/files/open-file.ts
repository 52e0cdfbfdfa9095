// Opens files without hanging: without O_NONBLOCK, opening a FIFO waits for its other end, possibly forever, in one of the few
// threads that all file operations of the program share.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { FilePath } from "./file-path.ts";
import { notAFile } from "./file-refusal.ts";
import { withNoFollowPath } from "./real-directories.ts";

/** How a file is opened. */
export interface OpenOptions {
  /** Default true. False fails if the path or a directory in it is a symbolic link. */
  readonly followSymlinks?: boolean;
  /** Default `read`. `write` and `replace` create a missing file; `replace` truncates an existing one. */
  readonly mode?: "read" | "write" | "replace";
  /** Whether a character device such as /dev/null is accepted. */
  readonly allowDevices?: boolean;
}

/** An open file, with its stats at the time of opening. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

const FLAGS = {
  read: constants.O_RDONLY,
  write: constants.O_WRONLY | constants.O_CREAT,
  replace: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
};

/** Opens a regular file. Anything else is refused as `notAFile`, or by the operating system. */
export async function openFile(
  path: FilePath,
  { followSymlinks = true, mode = "read", allowDevices = false }: OpenOptions = {},
): Promise<OpenedFile> {
  // Windows has neither O_NONBLOCK nor O_NOFOLLOW.
  const flags = FLAGS[mode] | (constants.O_NONBLOCK ?? 0);
  const handle = followSymlinks
    ? await open(path, flags, 0o666)
    : await withNoFollowPath(path, (noFollowPath) => open(noFollowPath, flags | (constants.O_NOFOLLOW ?? 0), 0o666));
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() && !(allowDevices && stats.isCharacterDevice())) throw notAFile(path);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a file, calls `use`, and closes the file. */
export async function withFile<T>(
  path: FilePath,
  options: OpenOptions,
  use: (handle: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  const { handle, stats } = await openFile(path, options);
  try {
    return await use(handle, stats);
  } finally {
    await handle.close();
  }
}

/** Fills the buffer from `position`, or from the file's current position if null. A shorter result means the end of file. */
export async function readFully(handle: FileHandle, buffer: Buffer, position: number | null): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const at = position === null ? null : position + filled;
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, at);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Writes all bytes at `position`, or at the file's current position if null. */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const at = position === null ? null : position + written;
    written += (await handle.write(bytes, written, bytes.length - written, at)).bytesWritten;
  }
}
