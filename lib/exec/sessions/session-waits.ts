// Checks the wait and budget options of a call, fills in the defaults, and clamps them to the limits.
import { checkInteger, MAX_TIMER_MS } from "../../../protocol/index.ts";
import { refuse } from "../../errors.ts";
import type { TakeOptions } from "./session.ts";
import type { ExecLimits } from "./session-limits.ts";
import type { OutputBudget, YieldOptions } from "./session-types.ts";

/** The options of a call, where each may also be undefined. */
type YieldInput = { readonly [K in keyof YieldOptions]: YieldOptions[K] | undefined };

/** The wait of a start. */
export function startWait(input: YieldInput, limits: ExecLimits): TakeOptions {
  return wait(input, limits, limits.startYieldMs, limits.minYieldMs, limits.maxYieldMs);
}

/** The wait of a write or a signal. */
export function writeWait(input: YieldInput, limits: ExecLimits): TakeOptions {
  return wait(input, limits, limits.writeYieldMs, limits.minYieldMs, limits.maxYieldMs);
}

/** The wait of a poll. */
export function pollWait(input: YieldInput, limits: ExecLimits): TakeOptions {
  return wait(input, limits, limits.pollYieldMs, limits.minPollMs, limits.maxPollMs);
}

function wait(
  { yieldMs, quietMs, budget, signal }: YieldInput,
  limits: ExecLimits,
  byDefault: number,
  min: number,
  max: number,
) {
  refuse(checkInteger("yieldMs", yieldMs ?? 0, 0, Number.MAX_SAFE_INTEGER));
  refuse(checkInteger("quietMs", quietMs ?? 0, 0, MAX_TIMER_MS));
  const clamped = Math.min(max, Math.max(min, yieldMs ?? byDefault));
  return { yieldMs: clamped, quietMs, maxBytes: bytesOf(budget, limits), signal };
}

function bytesOf(budget: OutputBudget | undefined, { outputBytes, maxOutputBytes, bytesPerToken }: ExecLimits): number {
  if (!budget) return outputBytes;
  const isTokens = "tokens" in budget;
  const amount = isTokens ? budget.tokens : budget.bytes;
  refuse(checkInteger(isTokens ? "budget.tokens" : "budget.bytes", amount, 0, Number.MAX_SAFE_INTEGER));
  return Math.min(maxOutputBytes, isTokens ? amount * bytesPerToken : amount);
}
