// The one error class of the project. Outcomes (an exit code, a full stdin, a gap) are values and never become errors.
import type { ErrorCode, ErrorData, Problem, WireError } from "../protocol/index.ts";

/** A refusal or breakage with a stable `code`; `message` says what, which and why in one line; `data` holds the facts. */
export class ExecwireError extends Error {
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, options: { data?: ErrorData; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ExecwireError";
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** `INVALID_PARAMS` for a problem that a check of `protocol/` found. */
export function invalidParams({ field, message }: Problem): ExecwireError {
  return new ExecwireError("INVALID_PARAMS", `${field} ${message}`, { data: { field } });
}

/** Throws it, when there is a problem. */
export function refuse(problem: Problem | undefined): void {
  if (problem) throw invalidParams(problem);
}

/** An error as it crosses the wire: no stack, no cause. What is not ours is a bug, and tells no more than its message. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof ExecwireError))
    return { code: "INTERNAL", message: error instanceof Error ? error.message : String(error) };
  return { code: error.code, message: error.message, data: error.data };
}

/** A text of several lines as one. Not by one regular expression, which takes quadratic time where there is much space. */
export function oneLine(text: string, between: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(between);
}

/** The error that a peer reported, with the same code, message and data. */
export function fromWireError({ code, message, data }: WireError): ExecwireError {
  return new ExecwireError(code, message, data ? { data } : {});
}
