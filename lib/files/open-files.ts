// Files that a client holds open under ids of its choice, and reads and writes block by block.
// Invariants: (1) an id stands for one file from the call of `open` on, before the file is open; (2) when the id goes the
// file is closed, after what was begun on it.
import type { FileHandle } from "node:fs/promises";
import { constants as system } from "node:os";
import type { FilePath } from "./file-path.ts";
import { FileRefusal } from "./file-refusal.ts";
import { openFile, readFully, writeFully } from "./open-file.ts";

/** The largest offset of a file, 2^63 - 1, is roughly this number. */
const MAX_OFFSET = 2 ** 63;

/** A file that is open, or about to be. */
interface OpenFile {
  readonly handle: Promise<FileHandle>;
  readonly underWay: Set<Promise<unknown>>;
}

/** A table of open files. */
export class OpenFiles {
  readonly #maxOpen: number;
  readonly #files = new Map<string, OpenFile>();

  constructor({ maxOpen }: { readonly maxOpen: number }) {
    this.#maxOpen = maxOpen;
  }

  /** Opens a regular file under a new id; `replace` makes or empties it, in place. */
  async open(id: string, path: FilePath, mode: "read" | "replace"): Promise<void> {
    if (this.#files.has(id)) throw new FileRefusal("handleExists", `file handle \`${id}\` already exists`);
    if (this.#files.size >= this.#maxOpen)
      throw new FileRefusal("tooManyHandles", `at most ${this.#maxOpen} file handles may be open per connection`);
    const handle = openFile(path, { mode }).then((opened) => opened.handle);
    const file = { handle, underWay: new Set<Promise<unknown>>() };
    this.#files.set(id, file); // (1)
    try {
      await handle;
    } catch (error) {
      if (this.#files.get(id) === file) this.#files.delete(id);
      throw error;
    }
  }

  /** Reads up to a length; less comes only at the end, which is `eof`. */
  read(id: string, offset: number, length: number): Promise<{ readonly bytes: Buffer; readonly eof: boolean }> {
    return this.#use(id, async (handle) => {
      if (offset >= MAX_OFFSET) throw systemError("EINVAL", "invalid argument");
      // No file reaches so far, and Node would read elsewhere.
      if (offset + length > Number.MAX_SAFE_INTEGER) return { bytes: Buffer.alloc(0), eof: true };
      const bytes = await readFully(handle, Buffer.allocUnsafe(length), offset);
      return { bytes, eof: bytes.length < length };
    });
  }

  /** Writes at an offset, which may lie beyond the end. */
  write(id: string, offset: number, bytes: Buffer): Promise<void> {
    return this.#use(id, async (handle) => {
      if (offset + bytes.length >= MAX_OFFSET)
        throw new FileRefusal("writeRange", "file write range exceeds the signed 64-bit file offset limit");
      // Node would write elsewhere.
      if (offset + bytes.length > Number.MAX_SAFE_INTEGER) throw systemError("EFBIG", "file too large");
      await writeFully(handle, bytes, offset);
    });
  }

  /** Closes a file when what is under way on it is done. An unknown id is fine. */
  async close(id: string): Promise<void> {
    const file = this.#files.get(id);
    if (!file) return;
    this.#files.delete(id);
    await Promise.allSettled(file.underWay);
    const handle = await file.handle.catch(() => undefined);
    await handle?.close(); // (2)
  }

  /** Closes every file. */
  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#files.keys()].map((id) => this.close(id)));
  }

  async #use<T>(id: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
    const file = this.#files.get(id);
    if (!file) throw new FileRefusal("handleUnknown", `unknown file handle \`${id}\``);
    const done = file.handle.then(work);
    file.underWay.add(done);
    try {
      return await done;
    } finally {
      file.underWay.delete(done);
    }
  }
}

function systemError(code: "EINVAL" | "EFBIG", message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code, errno: -system.errno[code] });
}
