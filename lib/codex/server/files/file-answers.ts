// Replies of the fs/* methods where they are more than the result of the operation, and the limits on their arguments.
import type { FilePath } from "../../../files/file-path.ts";
import { listDirectory } from "../../../files/list-directory.ts";
import { readPieces } from "../../../files/read-write.ts";
import { type WalkOptions, walk } from "../../../files/walk.ts";
import { CODE, CodexError } from "../../codex-error.ts";
import { decodeBase64 } from "../../decode.ts";
import { RawResult } from "../method.ts";
import { describeFileError } from "./file-errors.ts";
import { fileUri } from "./file-path.ts";

/** Bytes of one block, to keep a single message small. */
const MAX_BLOCK_BYTES = 1024 * 1024;

/** Largest file, in bytes, that fs/readFile returns. */
const MAX_READ_BYTES = 512 * 1024 * 1024;

/** Bytes encoded to base64 at a time: divisible by 3, so that the concatenated parts are one valid base64 text. */
const PIECE_BYTES = 768 * 1024;

/** The largest limits that a walk may ask for. */
const WALK_MAXIMUMS = { depth: 64, directories: 10_000, entries: 50_000 };

/** The contents of a file as the JSON source of the result, in parts that each fit into a string. */
export async function readFile(path: FilePath, followSymlinks: boolean): Promise<RawResult> {
  const parts = [Buffer.from('{"dataBase64":"')];
  const options = { followSymlinks, maxBytes: MAX_READ_BYTES, pieceBytes: PIECE_BYTES };
  for await (const piece of readPieces(path, options)) parts.push(Buffer.from(piece.toString("base64"), "latin1"));
  parts.push(Buffer.from('"}'));
  return new RawResult(parts);
}

/** The bytes for fs/writeFile. Invalid base64 is refused with this method's own message. */
export function decodeContents(dataBase64: string): Buffer {
  try {
    return decodeBase64(dataBase64);
  } catch (error) {
    if (!(error instanceof CodexError)) throw error;
    throw new CodexError(CODE.refused, `fs/writeFile requires valid base64 dataBase64: ${error.message}`);
  }
}

/** The entries of a directory; names that are not UTF-8 are shown with replacement characters. */
export async function readDirectory(path: FilePath) {
  const entries = await listDirectory(path);
  return {
    entries: entries.map(({ name, kind }) => ({
      fileName: name.toString(),
      isDirectory: kind === "directory",
      isFile: kind === "file",
    })),
  };
}

/** Walks a tree. Throws when the requested limits exceed the maximums. */
export async function walkTree(path: FilePath, options: WalkOptions) {
  const { maxDepth, maxDirectories, maxEntries } = options;
  const { depth, directories, entries: most } = WALK_MAXIMUMS;
  if (maxDirectories === 0 || maxEntries === 0)
    throw new CodexError(CODE.refused, "filesystem walk limits must be greater than zero");
  if (maxDepth > depth || maxDirectories > directories || maxEntries > most)
    throw new CodexError(
      CODE.refused,
      `filesystem walk limits exceed maximums: depth=${depth}, directories=${directories}, entries=${most}`,
    );
  const { entries, errors, truncated } = await walk(path, options);
  return {
    entries: entries.map(({ path, kind }) => ({ path: fileUri(path), kind })),
    errors: errors.map(({ path, error }) => ({ path: fileUri(path), message: describeFileError(error) ?? `${error}` })),
    truncated,
  };
}

/** Throws when a block is empty or too long. */
export function checkBlock(direction: "read" | "write", length: number): void {
  if (length >= 1 && length <= MAX_BLOCK_BYTES) return;
  throw new CodexError(CODE.refused, `file ${direction} block length must be between 1 and ${MAX_BLOCK_BYTES}`);
}
