// Memory that is in use: after a collection, so that what is measured is held and not merely not yet collected.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of all buffers of this program that something still refers to. */
export function bufferBytes(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

/** Bytes of all JavaScript objects of this program that something still refers to. */
export function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Collects what nothing refers to. */
export function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
