// Finds out whether child_process has the descriptors it needs.
import { closeSync, openSync } from "node:fs";

/** Node leaks the sockets of a spawn that fails for lack of descriptors: throws EMFILE before it does. */
export function probeDescriptors(): void {
  const opened: number[] = [];
  try {
    // Two ends for each of three streams, and what a spawn needs for itself.
    for (let count = 0; count < 9; count += 1) opened.push(openSync("/dev/null", "r"));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
