// The entries of one directory, with links told from what they lead to.
import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { childPath, type FilePath } from "./file-path.ts";
import { inBatches } from "./in-batches.ts";

/** A name in a directory. */
export interface DirectoryEntry {
  readonly name: Buffer;
  /** Of what a link leads to. */
  readonly kind: "file" | "directory" | "other";
  readonly isLink: boolean;
}

/** Entries taken from the system at a time: enough to be quick, few enough that nobody else waits. */
const ENTRIES_AT_A_TIME = 512;

/** The entries as the system tells them, in no order. */
export async function readEntries(path: FilePath): Promise<Dirent<Buffer>[]> {
  const entries: Dirent<Buffer>[] = [];
  // Node takes any encoding here as it does for readdir; only its types do not say so.
  const options = { bufferSize: ENTRIES_AT_A_TIME, encoding: "buffer" as BufferEncoding };
  for await (const entry of await opendir(path as unknown as string, options)) {
    entries.push(entry as unknown as Dirent<Buffer>);
  }
  return entries;
}

/** The entries in no order, with what links lead to; a link that leads nowhere is left out. */
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

/** Of what an entry is that is no link. */
function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): DirectoryEntry["kind"] {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}
