// Lists one directory, with links resolved to the kind of their target.
import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { childPath, type FilePath } from "./file-path.ts";
import { inBatches } from "./in-batches.ts";

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: Buffer;
  /** For a link, the kind of its target. */
  readonly kind: "file" | "directory" | "other";
  readonly isLink: boolean;
}

/** Entries read per call: enough to be fast, few enough that other work is not delayed. */
const ENTRIES_AT_A_TIME = 512;

/** The entries as the system reports them, unordered. */
export async function readEntries(path: FilePath): Promise<Dirent<Buffer>[]> {
  const entries: Dirent<Buffer>[] = [];
  // Node accepts "buffer" here as in readdir; its types omit it.
  const options = { bufferSize: ENTRIES_AT_A_TIME, encoding: "buffer" as BufferEncoding };
  for await (const entry of await opendir(path as unknown as string, options)) {
    entries.push(entry as unknown as Dirent<Buffer>);
  }
  return entries;
}

/** The entries, unordered, with links resolved; dangling links are omitted. */
export async function listDirectory(path: FilePath): Promise<DirectoryEntry[]> {
  const entries = await readEntries(path);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const targets = await inBatches(links, ({ name }) => stat(childPath(path, name)).catch(() => undefined));
  const targetOf = new Map(links.map((link, index) => [link, targets[index]]));
  return entries.flatMap((entry) => {
    const isLink = entry.isSymbolicLink();
    const target = isLink ? targetOf.get(entry) : entry;
    return target ? [{ name: entry.name, kind: kindOf(target), isLink }] : [];
  });
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): DirectoryEntry["kind"] {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}
