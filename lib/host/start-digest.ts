// What a start asks for, in few bytes: a start that is repeated gives the process of the first one, so it must ask for the same.
// Not the spec itself, which holds values of the environment.
import { hash } from "node:crypto";
import type { ProcessSpec } from "../../protocol/index.ts";

/** Equal for specs that say the same, in whichever order. */
export function startDigest(spec: ProcessSpec): string {
  return hash("sha256", JSON.stringify(inOrder(spec)), "base64");
}

/** Objects as lists of their entries, sorted by name; a replacer for JSON.stringify would take longer than all the rest. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const entries: unknown[] = [];
  for (const name of Object.keys(fields).sort())
    if (fields[name] !== undefined) entries.push(name, inOrder(fields[name]));
  return entries;
}
