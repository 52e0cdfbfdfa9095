// A digest of a start request: repeating a start returns the first one's process, so it must request the same. The spec itself
// is not kept, because it contains values of the environment.
import { hash } from "node:crypto";
import type { ProcessSpec } from "../../protocol/index.ts";

/** Equal for specs with equal fields, in any order. */
export function startDigest(spec: ProcessSpec): string {
  return hash("sha256", JSON.stringify(sortedEntries(spec)), "base64");
}

/**
 * Objects as lists of their entries, sorted by name. A replacer for JSON.stringify would be slower than everything else
 * together.
 */
function sortedEntries(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const entries: unknown[] = [];
  for (const name of Object.keys(fields).sort())
    if (fields[name] !== undefined) entries.push(name, sortedEntries(fields[name]));
  return entries;
}
