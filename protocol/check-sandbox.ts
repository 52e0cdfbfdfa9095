// Checks a sandbox policy, as far as it can be checked without looking at the host's files.
import {
  checkFlag,
  checkInteger,
  checkOneOf,
  checkText,
  checkTextList,
  describe,
  ifPresent,
  isRecord,
  type Problem,
  problem,
} from "./check-value.ts";
import { MAX_TIMER_MS } from "./limits.ts";
import type { ManagedNetwork } from "./network.ts";
import type { FileRule, NamedPath, ResourceBounds, SandboxPolicy } from "./sandbox.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const POLICY_FIELDS = ["files", "network", "unixSockets", "limits"] satisfies (keyof SandboxPolicy)[];
const RULE_FIELDS = ["path", "access", "ifMissing"] satisfies (keyof FileRule)[];
const BOUNDS = ["cpuSeconds", "openFiles", "fileBytes", "coreBytes"] satisfies (keyof ResourceBounds)[];
const NETWORK_FIELDS = [
  "mode",
  "allow",
  "deny",
  "allowLocal",
  "onlyReading",
  "decisionTimeoutMs",
] satisfies (keyof ManagedNetwork)[];
const NAMED = ["root", "platform", "tmp"] satisfies NamedPath[];

/** The limits of a host on a policy. */
export interface SandboxLimits {
  readonly sandboxRules: number;
  readonly networkHosts: number;
}

const NO_LIMITS: SandboxLimits = { sandboxRules: MAX, networkHosts: MAX };
/** Longest host name (RFC 1035). */
const MAX_HOST_CHARS = 253;
/** What no host name and no address has: it would be a URL, a port, a list or a glob of another kind. */
const NOT_IN_HOSTS = /[\s/\\@?#*%,]|\p{Cc}/u;

/** The first problem of a policy. An unknown field is a problem too: what was meant to restrict must not be ignored. */
export function checkSandbox(
  policy: unknown,
  { sandboxRules, networkHosts }: SandboxLimits = NO_LIMITS,
): Problem | undefined {
  if (!isRecord(policy)) return problem("sandbox", `must be an object, got ${describe(policy)}`);
  const { files } = policy;
  return (
    checkFields("sandbox", policy, POLICY_FIELDS) ??
    checkRules(files, sandboxRules) ??
    ifPresent(policy.network, (network) => checkNetwork(network, networkHosts)) ??
    ifPresent(policy.unixSockets, (flag) => checkFlag("sandbox.unixSockets", flag)) ??
    ifPresent(policy.limits, checkBounds)
  );
}

function checkRules(rules: unknown, maxRules: number): Problem | undefined {
  if (!Array.isArray(rules)) return problem("sandbox.files", `must be an array of rules, got ${describe(rules)}`);
  if (rules.length > maxRules)
    return problem("sandbox.files", `must have at most ${maxRules} rules, has ${rules.length}`);
  for (const [index, rule] of rules.entries()) {
    const wrong = checkRule(`sandbox.files[${index}]`, rule);
    if (wrong) return wrong;
  }
  return undefined;
}

function checkRule(field: string, rule: unknown): Problem | undefined {
  if (!isRecord(rule)) return problem(field, `must be an object, got ${describe(rule)}`);
  return (
    checkFields(field, rule, RULE_FIELDS) ??
    checkPath(`${field}.path`, rule.path) ??
    checkOneOf(`${field}.access`, rule.access, ["none", "read", "write"]) ??
    ifPresent(rule.ifMissing, (choice) => checkOneOf(`${field}.ifMissing`, choice, ["refuse", "skip", "protect"]))
  );
}

function checkPath(field: string, path: unknown): Problem | undefined {
  if (isRecord(path)) return checkFields(field, path, ["named"]) ?? checkOneOf(`${field}.named`, path.named, NAMED);
  const wrong = checkText(field, path);
  if (wrong) return wrong;
  if (path === "/") return problem(field, 'must not be "/"; use {named: "root"}');
  const isNormal = /^\//.test(path as string) && !(path as string).slice(1).split("/").some(isUnclear);
  return isNormal
    ? undefined
    : problem(field, `must be absolute, without "..", "." and a "/" too many, got ${describe(path)}`);
}

function isUnclear(part: string): boolean {
  return part === "" || part === "." || part === "..";
}

function checkNetwork(network: unknown, maxHosts: number): Problem | undefined {
  if (network === "full" || network === "none") return undefined;
  if (isRecord(network)) return checkManagedNetwork("sandbox.network", network, maxHosts);
  return problem("sandbox.network", `must be "full", "none" or {mode: "managed", ...}, got ${describe(network)}`);
}

/** The first problem of a managed network with at most so many patterns. */
export function checkManagedNetwork(field: string, network: unknown, maxHosts: number): Problem | undefined {
  if (!isRecord(network)) return problem(field, `must be an object, got ${describe(network)}`);
  const { allow = [], deny = [] } = network;
  return (
    checkFields(field, network, NETWORK_FIELDS) ??
    checkOneOf(`${field}.mode`, network.mode, ["managed"]) ??
    checkPatterns(`${field}.allow`, allow, { isAnyPermitted: true, maxHosts }) ??
    checkPatterns(`${field}.deny`, deny, { isAnyPermitted: false, maxHosts: maxHosts - (allow as unknown[]).length }) ??
    ifPresent(network.allowLocal, (flag) => checkFlag(`${field}.allowLocal`, flag)) ??
    ifPresent(network.onlyReading, (flag) => checkFlag(`${field}.onlyReading`, flag)) ??
    ifPresent(network.decisionTimeoutMs, (ms) => checkInteger(`${field}.decisionTimeoutMs`, ms, 1, MAX_TIMER_MS))
  );
}

function checkPatterns(
  field: string,
  patterns: unknown,
  { isAnyPermitted, maxHosts }: { readonly isAnyPermitted: boolean; readonly maxHosts: number },
): Problem | undefined {
  const wrong = checkTextList(field, patterns);
  if (wrong) return wrong;
  const list = patterns as readonly string[];
  if (list.length > maxHosts)
    return problem(field, `has ${list.length} patterns; the host permits ${maxHosts} more of them`);
  for (const [index, pattern] of list.entries()) {
    if (pattern === "*" && isAnyPermitted) continue;
    if (pattern === "*") return problem(`${field}[${index}]`, 'must not be "*"; use network "none"');
    const name = pattern.replace(/^\*{1,2}\./, "");
    if (name === "" || name.length > MAX_HOST_CHARS || NOT_IN_HOSTS.test(name) || isUrlLike(name))
      return problem(
        `${field}[${index}]`,
        `must be a host, "*.host" or "**.host", without a port, got ${describe(pattern)}`,
      );
  }
  return undefined;
}

/** Whether there is a port behind the name. An IPv6 address has more colons than one. */
function isUrlLike(name: string): boolean {
  return name.split(":").length === 2 || name.startsWith("[");
}

function checkBounds(bounds: unknown): Problem | undefined {
  if (!isRecord(bounds)) return problem("sandbox.limits", `must be an object, got ${describe(bounds)}`);
  let wrong = checkFields("sandbox.limits", bounds, BOUNDS);
  for (const name of BOUNDS) {
    wrong ??= ifPresent(bounds[name], (value) =>
      checkInteger(`sandbox.limits.${name}`, value, name === "coreBytes" ? 0 : 1, MAX),
    );
  }
  return wrong;
}

function checkFields(
  field: string,
  record: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Problem | undefined {
  const unknown = Object.keys(record).find((name) => !known.includes(name));
  return unknown === undefined
    ? undefined
    : problem(`${field}.${unknown}`, `is not known; known are ${known.join(", ")}`);
}
