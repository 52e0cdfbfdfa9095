// The error of a refused call, reduced to the part that is API: code and data.
import { ExecwireError } from "../../lib/errors.ts";
import type { ErrorCode, ErrorData } from "../../protocol/index.ts";

/** A refusal. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly data: ErrorData;
}

/** The refusal of `call`. Every other outcome, including success, is an error. */
export async function refusal(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ExecwireError) return { code: error.code, data: error.data };
    throw error;
  }
  throw new Error("the call was accepted");
}
