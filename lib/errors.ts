// The only error class of the project. Outcomes (an exit code, a full stdin, a gap) are values, never errors.
import type { ErrorCode, ErrorData, Problem, WireError } from "../protocol/index.ts";

/** A refusal or breakage. `code` is stable; `message` is one line for people; `data` has the facts for programs. */
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

/** `INVALID_PARAMS` for a problem found by a check of `protocol/`. */
export function invalidParams({ field, message }: Problem): ExecwireError {
  return new ExecwireError("INVALID_PARAMS", `${field} ${message}`, { data: { field } });
}

/** Throws `INVALID_PARAMS` if there is a problem. */
export function refuse(problem: Problem | undefined): void {
  if (problem) throw invalidParams(problem);
}

/** The wire form of an error: no stack, no cause. Any other error is a bug, sent as `INTERNAL` with its message only. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof ExecwireError))
    return { code: "INTERNAL", message: short(error instanceof Error ? error.message : String(error)) };
  return { code: error.code, message: short(error.message), data: shortData(error.data) };
}

/** Most characters of a message or a fact on the wire: both quote the peer's input, which may be a whole frame. */
const MAX_CHARS = 8192;

/** Truncates a text to a readable length. */
export function short(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}...` : text;
}

/** Joins the lines of a text. Not by a regular expression, which takes quadratic time on long runs of whitespace. */
export function oneLine(text: string, between: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(between);
}

function shortData(data: ErrorData): ErrorData {
  const facts = Object.entries(data);
  return Object.fromEntries(facts.map(([name, fact]) => [name, typeof fact === "string" ? short(fact) : fact]));
}

/** The error reported by a peer, with the same code, message and data. */
export function fromWireError({ code, message, data }: WireError): ExecwireError {
  return new ExecwireError(code, message, data ? { data } : {});
}
