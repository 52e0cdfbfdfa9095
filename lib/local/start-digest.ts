// What a start asks for, in few bytes: a start that is repeated gives the process of the first one, so it must ask for the same.
// Not the spec itself, which holds values of the environment.
import { createHash } from "node:crypto";
import type { ProcessSpec } from "../../protocol/index.ts";

/** Equal for specs that say the same, in whichever order. */
export function startDigest(spec: ProcessSpec): string {
  return createHash("sha256").update(JSON.stringify(spec, inOrder)).digest("base64");
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
