// The environment of a child, as a pure function of the spec and our own environment. Exact by default: every variable was
// named by the caller. Order and names follow the Codex exec-server (child_env and its tests).
import { type EnvPolicy, limits, type ProcessMetadata, type ProcessSpec } from "../../protocol/index.ts";
import { nameMatcher } from "./name-globs.ts";

/** Variables by name. */
export type Environment = Record<string, string>;

/** The variables of `inherit: "core"`: enough for a shell to find programs, its home and its language. */
const CORE = ["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"];

const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

/**
 * Credentials and launch context of a supervisor itself, never passed on in any letter case, not even when set
 * explicitly: a child that has them could act as its supervisor.
 */
const NEVER_INHERITED = new Set([
  "EXECWIRE_TOKEN",
  "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "NODE_REPL_AUTH_TOKEN",
  "OPENAI_FEDERATION_RULE_ID",
  "OPENAI_IDENTITY_TOKEN_FILE",
  "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
]);

const THREAD_ID = "CODEX_THREAD_ID";
const TOOL_CALL_ID = "CODEX_TOOL_CALL_ID";

/** The exact environment for a spec, given our own. Throws LIMIT_EXCEEDED when matching its globs takes too many steps. */
export function buildEnvironment(
  spec: Pick<ProcessSpec, "env" | "envPolicy" | "metadata">,
  own: Readonly<Record<string, string | undefined>>,
  maxGlobSteps: number = limits.envGlobSteps,
): Environment {
  const base = spec.envPolicy ? applyPolicy(spec.envPolicy, own, maxGlobSteps) : new Map<string, string>();
  for (const [name, value] of Object.entries(spec.env ?? {})) base.set(name, value);
  for (const name of base.keys()) if (NEVER_INHERITED.has(name.toUpperCase())) base.delete(name);
  applyMetadata(base, spec.metadata);
  return Object.fromEntries(base);
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

/** With metadata both ids are set or removed. Without it the thread id stays; a call id is always stale. */
function applyMetadata(env: Map<string, string>, metadata: ProcessMetadata | undefined): void {
  if (metadata?.threadId !== undefined) env.set(THREAD_ID, metadata.threadId);
  else if (metadata) env.delete(THREAD_ID);
  const callId = metadata?.toolCallId;
  if (callId !== undefined && !callId.includes("\0")) env.set(TOOL_CALL_ID, callId);
  else env.delete(TOOL_CALL_ID);
}
