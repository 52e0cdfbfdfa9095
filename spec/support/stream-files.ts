// What the stdin of a process is, asked of the process itself: for specs that look without a child of ours in between.
import { readlinkSync, statSync } from "node:fs";
import type { StreamFile } from "../../lib/spawn/open-files.ts";

/** The file at descriptor 0 of a process, as the stream of that name. */
export function stdinOf(pid: number, stream: "stdin" | "pty"): StreamFile {
  const path = `/proc/${pid}/fd/0`;
  const { dev, ino, rdev } = statSync(path);
  return { stream, device: dev, inode: ino, name: readlinkSync(path), terminal: rdev };
}
