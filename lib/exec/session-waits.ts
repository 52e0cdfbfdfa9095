// What a caller says of waiting and of how much to return, checked, with the defaults and within the limits.
import { checkInteger, MAX_TIMER_MS } from "../../protocol/index.ts";
import { refuse } from "../errors.ts";
import type { TakeOptions } from "./session.ts";
import type { ExecLimits } from "./session-limits.ts";
import type { OutputBudget, YieldOptions } from "./session-types.ts";

/** As a caller's object may have it, undefined included. */
type Said = { readonly [K in keyof YieldOptions]: YieldOptions[K] | undefined };

/** For a start. */
export function startWait(said: Said, limits: ExecLimits): TakeOptions {
  return wait(said, limits, limits.startYieldMs, limits.minYieldMs, limits.maxYieldMs);
}

/** For a write or a signal. */
export function writeWait(said: Said, limits: ExecLimits): TakeOptions {
  return wait(said, limits, limits.writeYieldMs, limits.minYieldMs, limits.maxYieldMs);
}

/** For a poll. */
export function pollWait(said: Said, limits: ExecLimits): TakeOptions {
  return wait(said, limits, limits.pollYieldMs, limits.minPollMs, limits.maxPollMs);
}

function wait(
  { yieldMs, quietMs, budget, signal }: Said,
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
