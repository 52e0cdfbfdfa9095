// Bytes compared by their sha256, so that a failure does not print megabytes.
import { createHash } from "node:crypto";

/** The digest in the form that sha256sum(1) prints. */
export function sha256(...chunks: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}
