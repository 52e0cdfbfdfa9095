// Memory in use, measured after a garbage collection, so that it does not include garbage.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of all reachable buffers of this program. */
export function bufferBytes(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** Bytes of all reachable JavaScript objects of this program. */
export function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Runs the garbage collector. */
export function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
