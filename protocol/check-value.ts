// Checks single values from outside. Each check returns the problem, or undefined, and never throws: the caller converts it to
// an error of its own layer.
import { isByteString, isIllFormed } from "./raw-bytes.ts";

/** What is wrong with an argument: its field, and a message that a person can act on. */
export interface Problem {
  readonly field: string;
  readonly message: string;
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

/** The problem of a map of strings. */
export function checkTextMap(field: string, map: unknown, rawBytes = false): Problem | undefined {
  // The value is not shown: it may be a misplaced secret.
  if (!isRecord(map))
    return problem(field, `must be an object of strings, got ${Array.isArray(map) ? "an array" : typeof map}`);
  for (const [name, value] of Object.entries(map)) {
    const wrong =
      checkText(field, name, undefined, rawBytes) ?? checkText(`${field}.${name}`, value, undefined, rawBytes);
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

/**
 * The problem of a string that reaches the operating system as a C string: a NUL would silently cut it short, and a lone
 * surrogate becomes U+FFFD in UTF-8. With `rawBytes`, those that stand for bytes are permitted.
 */
export function checkText(
  field: string,
  value: unknown,
  maxChars = Number.POSITIVE_INFINITY,
  rawBytes = false,
): Problem | undefined {
  if (typeof value !== "string") return problem(field, `must be a string, got ${describe(value)}`);
  if (value.includes("\0")) return problem(field, "must not contain a NUL character");
  if (value.length > maxChars) return problem(field, `must have at most ${maxChars} characters, has ${value.length}`);
  // The value is not shown: it may be a secret.
  if (!isIllFormed(value) || (rawBytes && isByteString(value))) return undefined;
  if (!isByteString(value)) return problem(field, "is not valid Unicode: it has a lone surrogate");
  return problem(
    field,
    "holds bytes that are not UTF-8; only arguments, variables and the directory of a local process may",
  );
}

/** The problem of a boolean. */
export function checkFlag(field: string, value: unknown): Problem | undefined {
  return typeof value === "boolean" ? undefined : problem(field, `must be true or false, got ${describe(value)}`);
}

/** Checks a value that may be absent. */
export function ifPresent(value: unknown, check: (value: unknown) => Problem | undefined): Problem | undefined {
  return value === undefined ? undefined : check(value);
}

/** Makes a problem. */
export function problem(field: string, message: string): Problem {
  return { field, message };
}

/** Whether a value is an object with fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value for an error message: short, and only the beginning of a text, which may be secret. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
