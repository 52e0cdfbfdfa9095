// Checks a sandbox policy, as far as it can be checked without looking at the host's files.
import {
  checkFlag,
  checkInteger,
  checkOneOf,
  checkText,
  describe,
  ifPresent,
  isRecord,
  type Problem,
  problem,
} from "./check-value.ts";
import type { FileRule, NamedPath, ResourceBounds, SandboxPolicy } from "./sandbox.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const POLICY_FIELDS = ["files", "network", "unixSockets", "limits"] satisfies (keyof SandboxPolicy)[];
const RULE_FIELDS = ["path", "access", "ifMissing"] satisfies (keyof FileRule)[];
const BOUNDS = ["cpuSeconds", "openFiles", "fileBytes", "coreBytes"] satisfies (keyof ResourceBounds)[];
const NAMED = ["root", "platform", "tmp"] satisfies NamedPath[];

/** The first problem of a policy. An unknown field is a problem too: what was meant to restrict must not be ignored. */
export function checkSandbox(policy: unknown, maxRules: number = MAX): Problem | undefined {
  if (!isRecord(policy)) return problem("sandbox", `must be an object, got ${describe(policy)}`);
  const { files } = policy;
  return (
    checkFields("sandbox", policy, POLICY_FIELDS) ??
    checkRules(files, maxRules) ??
    ifPresent(policy.network, (network) => checkOneOf("sandbox.network", network, ["full", "none"])) ??
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
