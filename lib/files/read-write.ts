// Reads whole files in pieces, since a file may be larger than any string, and writes whole files at once.
import type { FilePath } from "./file-path.ts";
import { FileRefusal } from "./file-refusal.ts";
import { openFile, readFully, withFile, writeFully } from "./open-file.ts";

/** How a file is read. */
export interface FileReadOptions {
  readonly followSymlinks?: boolean;
  /** A larger file is refused as `tooLarge`, also if it grows during the read. */
  readonly maxBytes: number;
  /** Length of every piece but the last, in bytes. */
  readonly pieceBytes: number;
}

/** The contents of a file. A piece is valid until the next one is requested: all share one buffer. */
export async function* readPieces(
  path: FilePath,
  { followSymlinks = true, maxBytes, pieceBytes }: FileReadOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { handle, stats } = await openFile(path, { followSymlinks });
  try {
    // A size of 0 proves nothing: files in /proc are generated when read. So the size only refuses files early.
    if (stats.size > maxBytes) throw tooLarge(maxBytes);
    const buffer = Buffer.allocUnsafeSlow(pieceBytes);
    let total = 0;
    for (let piece: Buffer = buffer; piece.length === pieceBytes; total += piece.length) {
      piece = await readFully(handle, buffer, null);
      if (total + piece.length > maxBytes) throw tooLarge(maxBytes);
      if (piece.length > 0) yield piece;
    }
  } finally {
    await handle.close();
  }
}

/** Replaces the contents of a file, or creates it. Also writes to a device such as /dev/null. */
export async function writeWhole(path: FilePath, bytes: Buffer, { followSymlinks = true } = {}): Promise<void> {
  await withFile(path, { followSymlinks, mode: "replace", allowDevices: true }, (handle) =>
    writeFully(handle, bytes, null),
  );
}

function tooLarge(maxBytes: number): FileRefusal {
  return new FileRefusal("tooLarge", `file is too large to read: limit is ${maxBytes} bytes`);
}
