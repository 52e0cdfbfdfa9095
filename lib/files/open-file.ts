// Opening that cannot hang: without O_NONBLOCK the open of a FIFO waits for its other end, for ever, in one of the few
// threads that all file operations of the program share.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { FilePath } from "./file-path.ts";
import { notAFile } from "./file-refusal.ts";
import { throughRealDirectories } from "./real-directories.ts";

/** How a file is opened. */
export interface OpenOptions {
  /** Default true; false fails where the path or a directory of it is a symbolic link. */
  readonly followSymlinks?: boolean;
  /** To read (default), to write, or to write from nothing. What is written to is made when it is missing. */
  readonly mode?: "read" | "write" | "replace";
  /** Whether a character device such as /dev/null will do. */
  readonly allowDevices?: boolean;
}

/** A file, and what was known about it when it was opened. */
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
  // Windows knows neither flag.
  const flags = FLAGS[mode] | (constants.O_NONBLOCK ?? 0);
  const handle = followSymlinks
    ? await open(path, flags, 0o666)
    : await throughRealDirectories(path, (held) => open(held, flags | (constants.O_NOFOLLOW ?? 0), 0o666));
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() && !(allowDevices && stats.isCharacterDevice())) throw notAFile(path);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a file for the time of a call. */
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

/** Fills the buffer from a position, or from where the last read ended; less than full means the end was reached. */
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

/** Writes all of it at a position, or where the last write ended. */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const at = position === null ? null : position + written;
    written += (await handle.write(bytes, written, bytes.length - written, at)).bytesWritten;
  }
}
