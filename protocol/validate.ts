// Checks the arguments of calls: in the public API with the limits of the host, on the wire without them, since only the host
// of a process knows its limits.
import { checkManagedNetwork, checkSandbox } from "./check-sandbox.ts";
import {
  checkFlag,
  checkInteger,
  checkOneOf,
  checkText,
  checkTextList,
  checkTextMap,
  describe,
  ifPresent,
  isRecord,
  type Problem,
  problem,
} from "./check-value.ts";
import type { TerminalSize } from "./events.ts";
import { type Limits, MAX_TIMER_MS } from "./limits.ts";
import { loginShell } from "./login-shell.ts";
import type { ProcessSpec } from "./process.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const SCOPES = ["process", "group", "session", "tree"];
/** Characters of a signal name; which signals exist is known to the host of the process. */
const MAX_SIGNAL_CHARS = 32;
/** Characters of an incarnation: a uuid, with room to spare. */
const INCARNATION_CHARS = 64;

/** Limits of a spec that its host may choose. */
export type SpecLimits = Pick<
  Limits,
  "processIdChars" | "envPatterns" | "envPatternChars" | "sandboxRules" | "networkHosts"
> & {
  /** Whether strings may hold bytes that are not UTF-8: see `raw-bytes.ts`. Only for a process of this program. */
  readonly rawBytes?: boolean;
};

/** For a process of another host, which applies its own limits. */
const NO_LIMITS: SpecLimits = {
  processIdChars: MAX,
  envPatterns: MAX,
  envPatternChars: MAX,
  sandboxRules: MAX,
  networkHosts: MAX,
};

/** Unchecked arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A uuid with room for a prefix. */
const SCOPE_CHARS = 256;

const SPEC_FIELDS = new Set<string>([
  "argv",
  "processId",
  "cwd",
  "env",
  "envPolicy",
  "arg0",
  "tty",
  "pipeStdin",
  "merge",
  "timeoutMs",
  "sandbox",
  "networkProxy",
  "shellSnapshot",
  "inheritFds",
  "onDetach",
  "labels",
] satisfies (keyof ProcessSpec)[]);

/**
 * The first problem of a process spec. Unknown fields are a problem too: with a misspelt `envPolicy`, the process must not run
 * without a policy.
 */
export function checkSpec(spec: unknown, limits: SpecLimits = NO_LIMITS): Problem | undefined {
  if (!isRecord(spec)) return problem("spec", `must be an object, got ${describe(spec)}`);
  const unknown = Object.keys(spec).find((name) => !SPEC_FIELDS.has(name));
  if (unknown !== undefined) return problem(unknown, "is not a field of a process spec");
  const { argv, processId, cwd, arg0, tty, timeoutMs, inheritFds } = spec;
  return (
    checkArgv(argv, limits.rawBytes) ??
    ifPresent(processId, (id) => checkText("processId", id, limits.processIdChars)) ??
    ifPresent(
      cwd,
      (dir) =>
        checkText("cwd", dir, undefined, limits.rawBytes) ??
        (dir === "" ? problem("cwd", "must not be empty") : undefined),
    ) ??
    ifPresent(arg0, (name) => checkText("arg0", name, undefined, limits.rawBytes)) ??
    ifPresent(spec.env, (env) => checkEnv("env", env, limits.rawBytes)) ??
    ifPresent(spec.envPolicy, (policy) => checkEnvPolicy(policy, limits)) ??
    ifPresent(tty, checkTty) ??
    ifPresent(spec.pipeStdin, (flag) => checkFlag("pipeStdin", flag)) ??
    ifPresent(spec.merge, (flag) => checkFlag("merge", flag)) ??
    (spec.merge === true && tty
      ? problem("merge", "cannot be combined with tty, which has only one stream")
      : undefined) ??
    ifPresent(timeoutMs, (ms) => checkInteger("timeoutMs", ms, 1, MAX_TIMER_MS)) ??
    ifPresent(spec.sandbox, (policy) => checkSandbox(policy, limits)) ??
    ifPresent(spec.networkProxy, (network) => checkManagedNetwork("networkProxy", network, limits.networkHosts)) ??
    (spec.networkProxy !== undefined && spec.sandbox !== undefined
      ? problem("networkProxy", "cannot be combined with sandbox; use sandbox.network")
      : undefined) ??
    ifPresent(spec.shellSnapshot, (snapshot) => checkSnapshot(snapshot, spec as unknown as ProcessSpec)) ??
    ifPresent(inheritFds, checkFds) ??
    (Array.isArray(inheritFds) && inheritFds.includes(0) && (tty || spec.pipeStdin)
      ? problem("inheritFds", "holds 0, which cannot be combined with tty or pipeStdin")
      : undefined) ??
    ifPresent(spec.onDetach, (choice) => checkOneOf("onDetach", choice, ["terminate", "keep"])) ??
    ifPresent(spec.labels, (labels) => checkTextMap("labels", labels))
  );
}

function checkSnapshot(snapshot: unknown, spec: ProcessSpec): Problem | undefined {
  if (!isRecord(snapshot)) return problem("shellSnapshot", `must be {scope}, got ${describe(snapshot)}`);
  const unknown = Object.keys(snapshot).find((name) => name !== "scope");
  if (unknown !== undefined) return problem(`shellSnapshot.${unknown}`, "is not a field of a snapshot");
  const wrong = checkText("shellSnapshot.scope", snapshot.scope, SCOPE_CHARS);
  if (wrong || loginShell(spec)) return wrong;
  return problem("shellSnapshot", "needs an argv of bash, zsh or sh, then -lc, then a script");
}

/** The problem of a terminal size. */
export function checkSize(size: unknown): Problem | undefined {
  if (!isRecord(size)) return problem("size", `must be {rows, cols}, got ${describe(size)}`);
  const { rows, cols } = size as Partial<TerminalSize>;
  return checkInteger("rows", rows, 1, 65_535) ?? checkInteger("cols", cols, 1, 65_535);
}

/** The problem of a start: of its spec or its incarnation. */
export function checkStart(spec: unknown, incarnation: unknown, limits?: SpecLimits): Problem | undefined {
  return checkSpec(spec, limits) ?? checkText("incarnation", incarnation, INCARNATION_CHARS);
}

/** The problem of a read. */
export function checkReadOptions(options: Arguments, maxWaitMs: number = MAX): Problem | undefined {
  return (
    ifPresent(options.afterSeq, (seq) => checkInteger("afterSeq", seq, 0, MAX)) ??
    ifPresent(options.maxBytes, (bytes) => checkInteger("maxBytes", bytes, 0, MAX)) ??
    ifPresent(options.waitMs, (ms) => checkInteger("waitMs", ms, 0, maxWaitMs))
  );
}

/** The problem of a write. An empty id is always wrong: it cannot distinguish a retry from a new write. */
export function checkWrite({ chunk, writeId }: Arguments, maxIdChars: number = MAX): Problem | undefined {
  if (writeId === "") return problem("writeId", "must not be empty");
  return (
    ifPresent(writeId, (id) => checkText("writeId", id, maxIdChars)) ??
    (chunk instanceof Uint8Array ? undefined : problem("chunk", "must be a string or a Uint8Array"))
  );
}

/** The problem of a signal, as far as it can be checked on every host. */
export function checkSignal({ signal, scope }: Arguments): Problem | undefined {
  return checkText("signal", signal, MAX_SIGNAL_CHARS) ?? checkScope(scope);
}

/** The problem of a termination. */
export function checkTermination({ graceMs, scope }: Arguments): Problem | undefined {
  return checkGrace({ graceMs }) ?? checkScope(scope);
}

/** The problem of a grace period. */
export function checkGrace({ graceMs }: Arguments): Problem | undefined {
  return ifPresent(graceMs, (ms) => checkInteger("graceMs", ms, 0, MAX_TIMER_MS));
}

function checkScope(scope: unknown): Problem | undefined {
  return ifPresent(scope, (word) => checkOneOf("scope", word, SCOPES));
}

function checkArgv(argv: unknown, rawBytes: boolean | undefined): Problem | undefined {
  if (!Array.isArray(argv)) return problem("argv", `must be an array of strings, got ${describe(argv)}`);
  if (argv.length === 0) return problem("argv", "must not be empty");
  for (const [index, argument] of argv.entries()) {
    const wrong = checkText(`argv[${index}]`, argument, undefined, rawBytes);
    if (wrong) return wrong;
  }
  return argv[0] === "" ? problem("argv[0]", "must name a program, got an empty string") : undefined;
}

function checkEnvPolicy(policy: unknown, limits: SpecLimits): Problem | undefined {
  if (!isRecord(policy)) return problem("envPolicy", `must be an object, got ${describe(policy)}`);
  const known = ["inherit", "ignoreDefaultExcludes", "exclude", "set", "includeOnly"];
  const unknown = Object.keys(policy).find((name) => !known.includes(name));
  if (unknown !== undefined) return problem(`envPolicy.${unknown}`, "is not a field of an environment policy");
  if (!["all", "core", "none"].includes(policy.inherit as string)) {
    return problem("envPolicy.inherit", `must be "all", "core" or "none", got ${describe(policy.inherit)}`);
  }
  return (
    ifPresent(policy.ignoreDefaultExcludes, (flag) => checkFlag("envPolicy.ignoreDefaultExcludes", flag)) ??
    ifPresent(policy.exclude, (list) => checkPatterns("envPolicy.exclude", list, limits)) ??
    ifPresent(policy.includeOnly, (list) => checkPatterns("envPolicy.includeOnly", list, limits)) ??
    ifPresent(policy.set, (env) => checkEnv("envPolicy.set", env, limits.rawBytes))
  );
}

function checkPatterns(
  field: string,
  list: unknown,
  { envPatterns, envPatternChars }: SpecLimits,
): Problem | undefined {
  const wrong = checkTextList(field, list, envPatternChars);
  const patterns = list as readonly string[];
  if (wrong || patterns.length <= envPatterns) return wrong;
  return problem(field, `must have at most ${envPatterns} patterns, has ${patterns.length}`);
}

function checkTty(tty: unknown): Problem | undefined {
  if (typeof tty === "boolean") return undefined;
  if (!isRecord(tty)) return problem("tty", `must be a boolean or an object, got ${describe(tty)}`);
  const unknown = Object.keys(tty).find((name) => !["rows", "cols", "echo", "raw"].includes(name));
  if (unknown !== undefined) return problem(`tty.${unknown}`, "is not an option of a tty");
  return (
    ifPresent(tty.rows, (rows) => checkInteger("tty.rows", rows, 1, 65_535)) ??
    ifPresent(tty.cols, (cols) => checkInteger("tty.cols", cols, 1, 65_535)) ??
    ifPresent(tty.echo, (flag) => checkFlag("tty.echo", flag)) ??
    ifPresent(tty.raw, (flag) => checkFlag("tty.raw", flag))
  );
}

function checkFds(fds: unknown): Problem | undefined {
  if (!Array.isArray(fds)) return problem("inheritFds", `must be an array of descriptors, got ${describe(fds)}`);
  for (const [index, fd] of fds.entries()) {
    const wrong = fd === 0 ? undefined : checkInteger(`inheritFds[${index}]`, fd, 3, 2 ** 20);
    if (wrong) return wrong;
  }
  return undefined;
}

/** The problem of an environment: strings under names that a C program can read back. */
function checkEnv(field: string, env: unknown, rawBytes: boolean | undefined): Problem | undefined {
  const wrong = checkTextMap(field, env, rawBytes);
  if (wrong) return wrong;
  const name = Object.keys(env as object).find((key) => key === "" || key.includes("=") || key.includes("\0"));
  return name === undefined
    ? undefined
    : problem(field, `has a name that is empty or holds "=" or NUL: ${describe(name)}`);
}
