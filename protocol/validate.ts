// Checks input from outside before anything acts on it. Each check returns the problem, or undefined, and never throws: the
// caller converts it to an error of its own layer.
import type { TerminalSize } from "./events.ts";
import { limits } from "./limits.ts";
import type { ProcessSpec } from "./process.ts";

/** What is wrong with an argument: its field, and a message that a person can act on. */
export interface Problem {
  readonly field: string;
  readonly message: string;
}

const SPEC_FIELDS = new Set<string>([
  "argv",
  "processId",
  "cwd",
  "env",
  "envPolicy",
  "metadata",
  "arg0",
  "tty",
  "pipeStdin",
  "merge",
  "timeoutMs",
  "inheritFds",
  "onDetach",
  "labels",
] satisfies (keyof ProcessSpec)[]);

/**
 * The first problem of a process spec. Unknown fields are a problem too: with a misspelt `envPolicy`, the process must not run
 * without a policy.
 */
export function checkSpec(spec: unknown): Problem | undefined {
  if (!isRecord(spec)) return problem("spec", `must be an object, got ${describe(spec)}`);
  const unknown = Object.keys(spec).find((name) => !SPEC_FIELDS.has(name));
  if (unknown !== undefined) return problem(unknown, "is not a field of a process spec");
  const { argv, processId, cwd, arg0, tty, timeoutMs, inheritFds } = spec;
  return (
    checkArgv(argv) ??
    optional(processId, (id) => checkText("processId", id, limits.processIdChars)) ??
    optional(cwd, (dir) => checkText("cwd", dir) ?? (dir === "" ? problem("cwd", "must not be empty") : undefined)) ??
    optional(arg0, (name) => checkText("arg0", name)) ??
    optional(spec.env, (env) => checkEnv("env", env)) ??
    optional(spec.envPolicy, checkEnvPolicy) ??
    optional(spec.metadata, checkMetadata) ??
    optional(tty, checkTty) ??
    optional(spec.pipeStdin, (flag) => checkFlag("pipeStdin", flag)) ??
    optional(spec.merge, (flag) => checkFlag("merge", flag)) ??
    (spec.merge === true && tty
      ? problem("merge", "cannot be combined with tty, which has only one stream")
      : undefined) ??
    optional(timeoutMs, (ms) => checkInteger("timeoutMs", ms, 1, 2 ** 31 - 1)) ??
    optional(inheritFds, checkFds) ??
    optional(spec.onDetach, (choice) => checkOneOf("onDetach", choice, ["terminate", "keep"])) ??
    optional(spec.labels, (labels) => checkTextMap("labels", labels))
  );
}

/** The problem of a terminal size. */
export function checkSize(size: unknown): Problem | undefined {
  if (!isRecord(size)) return problem("size", `must be {rows, cols}, got ${describe(size)}`);
  const { rows, cols } = size as Partial<TerminalSize>;
  return checkInteger("rows", rows, 1, 65_535) ?? checkInteger("cols", cols, 1, 65_535);
}

/** The problem of a write id. An empty one is always wrong: it cannot distinguish a retry from a new write. */
export function checkWriteId(writeId: unknown): Problem | undefined {
  if (writeId === "") return problem("writeId", "must not be empty");
  return checkText("writeId", writeId, limits.writeIdChars);
}

/** The problem of a value that must be one of some words. */
export function checkOneOf(field: string, value: unknown, words: readonly string[]): Problem | undefined {
  if (words.includes(value as string)) return undefined;
  return problem(field, `must be one of ${words.join(", ")}, got ${describe(value)}`);
}

/** The problem of an integer argument. */
export function checkInteger(field: string, value: unknown, min: number, max: number): Problem | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return undefined;
  return problem(field, `must be an integer from ${min} to ${max}, got ${describe(value)}`);
}

function checkArgv(argv: unknown): Problem | undefined {
  if (!Array.isArray(argv)) return problem("argv", `must be an array of strings, got ${describe(argv)}`);
  if (argv.length === 0) return problem("argv", "must not be empty");
  for (const [index, argument] of argv.entries()) {
    const wrong = checkText(`argv[${index}]`, argument);
    if (wrong) return wrong;
  }
  return argv[0] === "" ? problem("argv[0]", "must name a program, got an empty string") : undefined;
}

function checkEnvPolicy(policy: unknown): Problem | undefined {
  if (!isRecord(policy)) return problem("envPolicy", `must be an object, got ${describe(policy)}`);
  const known = ["inherit", "ignoreDefaultExcludes", "exclude", "set", "includeOnly"];
  const unknown = Object.keys(policy).find((name) => !known.includes(name));
  if (unknown !== undefined) return problem(`envPolicy.${unknown}`, "is not a field of an environment policy");
  if (!["all", "core", "none"].includes(policy.inherit as string)) {
    return problem("envPolicy.inherit", `must be "all", "core" or "none", got ${describe(policy.inherit)}`);
  }
  return (
    optional(policy.ignoreDefaultExcludes, (flag) => checkFlag("envPolicy.ignoreDefaultExcludes", flag)) ??
    optional(policy.exclude, (list) => checkPatterns("envPolicy.exclude", list)) ??
    optional(policy.includeOnly, (list) => checkPatterns("envPolicy.includeOnly", list)) ??
    optional(policy.set, (env) => checkEnv("envPolicy.set", env))
  );
}

function checkPatterns(field: string, list: unknown): Problem | undefined {
  const wrong = checkTextList(field, list, limits.envPatternChars);
  if (wrong || (list as readonly string[]).length <= limits.envPatterns) return wrong;
  return problem(field, `must have at most ${limits.envPatterns} patterns, has ${(list as readonly string[]).length}`);
}

function checkMetadata(metadata: unknown): Problem | undefined {
  if (!isRecord(metadata)) return problem("metadata", `must be an object, got ${describe(metadata)}`);
  const unknown = Object.keys(metadata).find((name) => !["threadId", "toolCallId"].includes(name));
  if (unknown !== undefined) return problem(`metadata.${unknown}`, "is not a field of the metadata");
  const { threadId, toolCallId } = metadata;
  if (toolCallId !== undefined && typeof toolCallId !== "string") {
    return problem("metadata.toolCallId", `must be a string, got ${describe(toolCallId)}`);
  }
  return optional(threadId, (id) => checkText("metadata.threadId", id));
}

function checkTty(tty: unknown): Problem | undefined {
  if (typeof tty === "boolean") return undefined;
  if (!isRecord(tty)) return problem("tty", `must be a boolean or an object, got ${describe(tty)}`);
  const unknown = Object.keys(tty).find((name) => !["rows", "cols", "echo", "raw"].includes(name));
  if (unknown !== undefined) return problem(`tty.${unknown}`, "is not an option of a tty");
  return (
    optional(tty.rows, (rows) => checkInteger("tty.rows", rows, 1, 65_535)) ??
    optional(tty.cols, (cols) => checkInteger("tty.cols", cols, 1, 65_535)) ??
    optional(tty.echo, (flag) => checkFlag("tty.echo", flag)) ??
    optional(tty.raw, (flag) => checkFlag("tty.raw", flag))
  );
}

function checkFds(fds: unknown): Problem | undefined {
  if (!Array.isArray(fds)) return problem("inheritFds", `must be an array of descriptors, got ${describe(fds)}`);
  for (const [index, fd] of fds.entries()) {
    const wrong = checkInteger(`inheritFds[${index}]`, fd, 3, 2 ** 20);
    if (wrong) return wrong;
  }
  return undefined;
}

/** The problem of an environment: strings under names that a C program can read back. */
function checkEnv(field: string, env: unknown): Problem | undefined {
  const wrong = checkTextMap(field, env);
  if (wrong) return wrong;
  const name = Object.keys(env as object).find((key) => key === "" || key.includes("=") || key.includes("\0"));
  return name === undefined
    ? undefined
    : problem(field, `has a name that is empty or holds "=" or NUL: ${describe(name)}`);
}

/** The problem of a map of strings. */
export function checkTextMap(field: string, map: unknown): Problem | undefined {
  // The value is not shown: it may be a misplaced secret.
  if (!isRecord(map))
    return problem(field, `must be an object of strings, got ${Array.isArray(map) ? "an array" : typeof map}`);
  for (const [name, value] of Object.entries(map)) {
    const wrong = checkText(`${field}.${name}`, value);
    if (wrong) return wrong;
  }
  return undefined;
}

/** The problem of a list of strings. */
export function checkTextList(field: string, list: unknown, maxChars = Number.POSITIVE_INFINITY): Problem | undefined {
  if (!Array.isArray(list)) return problem(field, `must be an array of strings, got ${describe(list)}`);
  for (const [index, item] of list.entries()) {
    const wrong = checkText(`${field}[${index}]`, item, maxChars);
    if (wrong) return wrong;
  }
  return undefined;
}

/** The problem of a string that reaches the operating system as a C string: a NUL would silently cut it short. */
export function checkText(field: string, value: unknown, maxChars = Number.POSITIVE_INFINITY): Problem | undefined {
  if (typeof value !== "string") return problem(field, `must be a string, got ${describe(value)}`);
  if (value.includes("\0")) return problem(field, "must not contain a NUL character");
  if (value.length > maxChars) return problem(field, `must have at most ${maxChars} characters, has ${value.length}`);
  return undefined;
}

/** The problem of a boolean. */
export function checkFlag(field: string, value: unknown): Problem | undefined {
  return typeof value === "boolean" ? undefined : problem(field, `must be true or false, got ${describe(value)}`);
}

/** Checks a value that may be absent. */
export function optional(value: unknown, check: (value: unknown) => Problem | undefined): Problem | undefined {
  return value === undefined ? undefined : check(value);
}

function problem(field: string, message: string): Problem {
  return { field, message };
}

/** Whether a value is an object with fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value for an error message: short, and only the beginning of a text, which may be secret. */
function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
