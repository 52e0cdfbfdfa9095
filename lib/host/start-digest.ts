// The digest of a start's spec: a repeated start returns the process of the first one, so it must have the same spec. The spec
// itself is not kept, because it holds values of the environment.
import { hash } from "node:crypto";
import type { ProcessSpec } from "../../protocol/index.ts";

/** A digest in base64 that is equal for equal specs; the order of their fields does not matter. */
export function startDigest(spec: ProcessSpec): string {
  return hash("sha256", JSON.stringify(inOrder(spec)), "base64");
}

/** Turns objects into sorted lists of their entries. A replacer for JSON.stringify would take longer than all the rest. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const entries: unknown[] = [];
  for (const name of Object.keys(fields).sort())
    if (fields[name] !== undefined) entries.push(name, inOrder(fields[name]));
  return entries;
}
