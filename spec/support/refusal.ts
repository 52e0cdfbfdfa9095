// The error of a call that must be refused, as the part of it that is API: code and data.
import { ExecwireError } from "../../lib/errors.ts";
import type { ErrorCode, ErrorData } from "../../protocol/index.ts";

/** What a refused call says. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly data: ErrorData;
}

/** The refusal of `call`. Anything else that it does, success included, is an error. */
export async function refusal(call: Promise<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ExecwireError) return { code: error.code, data: error.data };
    throw error;
  }
  throw new Error("the call was accepted");
}
