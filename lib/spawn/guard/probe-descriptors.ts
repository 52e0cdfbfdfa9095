// Checks that enough descriptors are free for child_process.
import { closeSync, openSync } from "node:fs";

/** Throws EMFILE if too few are free: Node leaks the sockets of a spawn that fails for lack of descriptors. */
export function probeDescriptors(): void {
  const opened: number[] = [];
  try {
    // Two ends for each of three streams, and three for the spawn itself.
    for (let count = 0; count < 9; count += 1) opened.push(openSync("/dev/null", "r"));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
