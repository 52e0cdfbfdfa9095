// The file that is the stdin of a process, from /proc: for specs that inspect a process without a child object.
import { readlinkSync, statSync } from "node:fs";
import type { StreamFile } from "../../lib/spawn/proc/open-files.ts";

/** The file at descriptor 0 of a process, as the stream of that name. */
export function stdinOf(pid: number, stream: "stdin" | "pty"): StreamFile {
  const path = `/proc/${pid}/fd/0`;
  const { dev, ino, rdev } = statSync(path);
  return { stream, device: dev, inode: ino, name: readlinkSync(path), terminal: rdev };
}
