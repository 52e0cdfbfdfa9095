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
    return { code: "INTERNAL", message: short(error instanceof Error ? error.message : String(error)) };
  return { code: error.code, message: short(error.message), data: shortData(error.data) };
}

/** Characters of a message or a fact on the wire: both quote what the peer sent, which may be a whole frame. */
const MAX_CHARS = 8192;

/** The text, cut where it is far longer than anybody reads. */
export function short(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}...` : text;
}

/** A text of several lines as one. Not by one regular expression, which takes quadratic time where there is much space. */
export function oneLine(text: string, between: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(between);
}

function shortData(data: ErrorData): ErrorData {
  const facts = Object.entries(data);
  return Object.fromEntries(facts.map(([name, fact]) => [name, typeof fact === "string" ? short(fact) : fact]));
}

/** The error that a peer reported, with the same code, message and data. */
export function fromWireError({ code, message, data }: WireError): ExecwireError {
  return new ExecwireError(code, message, data ? { data } : {});
}
