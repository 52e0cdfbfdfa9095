// Files that a client keeps open under ids of its choice, and reads and writes block by block.
// Invariants: (1) an id is reserved from the call of `open` on, before the file is open; (2) when an id is removed its file is
// closed, after the pending operations on it.
import type { FileHandle } from "node:fs/promises";
import { constants as system } from "node:os";
import type { FilePath } from "./file-path.ts";
import { FileRefusal } from "./file-refusal.ts";
import { openFile, readFully, writeFully } from "./open-file.ts";

/** One above the largest file offset, 2^63 - 1, which a number cannot represent exactly. */
const MAX_OFFSET = 2 ** 63;

/** A file that is open or being opened. */
interface OpenFile {
  readonly handle: Promise<FileHandle>;
  readonly pending: Set<Promise<unknown>>;
}

/** A table of open files. */
export class OpenFiles {
  readonly #maxOpen: number;
  readonly #files = new Map<string, OpenFile>();

  constructor({ maxOpen }: { readonly maxOpen: number }) {
    this.#maxOpen = maxOpen;
  }

  /** Opens a regular file under a new id; `replace` creates or truncates it, in place. */
  async open(id: string, path: FilePath, mode: "read" | "replace"): Promise<void> {
    if (this.#files.has(id)) throw new FileRefusal("handleExists", `file handle \`${id}\` already exists`);
    if (this.#files.size >= this.#maxOpen)
      throw new FileRefusal("tooManyHandles", `at most ${this.#maxOpen} file handles may be open per connection`);
    const handle = openFile(path, { mode }).then((opened) => opened.handle);
    const file = { handle, pending: new Set<Promise<unknown>>() };
    this.#files.set(id, file); // (1)
    try {
      await handle;
    } catch (error) {
      if (this.#files.get(id) === file) this.#files.delete(id);
      throw error;
    }
  }

  /** Reads `length` bytes; fewer only at the end of file, reported as `eof`. */
  read(id: string, offset: number, length: number): Promise<{ readonly bytes: Buffer; readonly eof: boolean }> {
    return this.#use(id, async (handle) => {
      if (offset >= MAX_OFFSET) throw systemError("EINVAL", "invalid argument");
      // No file is that long, and Node would read at a wrong offset.
      if (offset + length > Number.MAX_SAFE_INTEGER) return { bytes: Buffer.alloc(0), eof: true };
      const bytes = await readFully(handle, Buffer.allocUnsafe(length), offset);
      return { bytes, eof: bytes.length < length };
    });
  }

  /** Writes at an offset, which may be beyond the end. */
  write(id: string, offset: number, bytes: Buffer): Promise<void> {
    return this.#use(id, async (handle) => {
      if (offset + bytes.length >= MAX_OFFSET)
        throw new FileRefusal("writeRange", "file write range exceeds the signed 64-bit file offset limit");
      // Node would write at a wrong offset.
      if (offset + bytes.length > Number.MAX_SAFE_INTEGER) throw systemError("EFBIG", "file too large");
      await writeFully(handle, bytes, offset);
    });
  }

  /** Closes a file after its pending operations. An unknown id is ignored. */
  async close(id: string): Promise<void> {
    const file = this.#files.get(id);
    if (!file) return;
    this.#files.delete(id);
    await Promise.allSettled(file.pending);
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
    file.pending.add(done);
    try {
      return await done;
    } finally {
      file.pending.delete(done);
    }
  }
}

function systemError(code: "EINVAL" | "EFBIG", message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code, errno: -system.errno[code] });
}
