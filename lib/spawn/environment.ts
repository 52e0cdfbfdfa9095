// The environment of a child, as a pure function of the spec and our own environment. Exact by default: every variable was
// named by the caller.
import { type EnvPolicy, limits, type ProcessSpec } from "../../protocol/index.ts";
import { nameMatcher } from "./name-globs.ts";
import type { OriginalEntry } from "./start-state.ts";

/** Variables by name. */
export type Environment = Record<string, string>;

/** The variables of `inherit: "core"`: enough for a shell to find programs, its home and its language. */
const CORE = ["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"];

const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

/** The exact environment for a spec, given our own. Throws LIMIT_EXCEEDED when matching its globs takes too many steps. */
export function buildEnvironment(
  spec: Pick<ProcessSpec, "env" | "envPolicy">,
  own: Readonly<Record<string, string | undefined>>,
  maxGlobSteps: number = limits.envGlobSteps,
): Environment {
  const base = spec.envPolicy ? applyPolicy(spec.envPolicy, own, maxGlobSteps) : new Map<string, string>();
  for (const [name, value] of Object.entries(spec.env ?? {})) base.set(name, value);
  // Not even when set explicitly: with our own credential a child could act as we do.
  for (const name of base.keys()) if (name.toUpperCase() === "EXECWIRE_TOKEN") base.delete(name);
  return Object.fromEntries(base);
}

/**
 * The entries of an environment, `NAME=VALUE` each, those inherited in their original order and with their original bytes. Entries
 * that `process.env` cannot hold, nameless or repeated ones, only pass a policy that filters nothing.
 */
export function environmentEntries(
  env: Environment,
  { env: overlay = {}, envPolicy: policy }: Pick<ProcessSpec, "env" | "envPolicy">,
  originals: readonly OriginalEntry[],
): string[] {
  const left = new Map(Object.entries(env));
  const entries: string[] = [];
  const isWhole = policy?.inherit === "all" && policy.ignoreDefaultExcludes && !policy.exclude && !policy.includeOnly;
  for (const { entry, name, value, isRepeated } of policy ? originals : []) {
    if (left.get(name) === value && left.delete(name)) entries.push(entry);
    else if (isWhole && (name === "" || (isRepeated && name in env && !(name in overlay)))) entries.push(entry);
  }
  for (const [name, value] of left) entries.push(`${name}=${value}`);
  return entries;
}

/** Whether a policy lets a variable through that something else has set, such as a start-up file. */
export function policyFilter(
  policy: EnvPolicy | undefined,
  maxGlobSteps: number = limits.envGlobSteps,
): (name: string) => boolean {
  if (!policy) return () => true;
  const { exclude = [], includeOnly = [], ignoreDefaultExcludes } = policy;
  const isExcluded = nameMatcher([...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude], maxGlobSteps);
  const isIncluded = nameMatcher(includeOnly, maxGlobSteps);
  return (name) => !isExcluded(name) && (includeOnly.length === 0 || isIncluded(name));
}

/** Order: inherit, default excludes, exclude, set, includeOnly. Excludes do not affect `set`; `includeOnly` does. */
function applyPolicy(
  policy: EnvPolicy,
  own: Readonly<Record<string, string | undefined>>,
  maxGlobSteps: number,
): Map<string, string> {
  const env = new Map<string, string>();
  const excludes = [...(policy.ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...(policy.exclude ?? [])];
  const isExcluded = nameMatcher(excludes, maxGlobSteps);
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || policy.inherit === "none") continue;
    if (policy.inherit === "core" && !CORE.includes(name)) continue;
    if (!isExcluded(name)) env.set(name, value);
  }
  for (const [name, value] of Object.entries(policy.set ?? {})) env.set(name, value);
  if (policy.includeOnly?.length) {
    const isIncluded = nameMatcher(policy.includeOnly, maxGlobSteps);
    for (const name of env.keys()) if (!isIncluded(name)) env.delete(name);
  }
  return env;
}
