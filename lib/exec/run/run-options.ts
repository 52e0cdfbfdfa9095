// The options of a run, their defaults and checks.
import { checkInteger, MAX_TIMER_MS, type Problem, type ProcessSpec } from "../../../protocol/index.ts";
import type { Clock } from "../../clock.ts";

/** Defaults of `run`. They belong to the caller and not to a host, so they are not in `protocol/limits.ts`. */
export const runDefaults = {
  /** Long enough for commands typed by a user or an agent, short enough to notice a command that waits for input. */
  timeoutMs: 10_000,
  /** Bytes kept of each stream, and of both together: a runaway command must not fill the caller's memory. */
  capBytes: 1024 * 1024,
  /** If a stream is still open after the exit: how long to wait since the last output. Plenty for pipes. */
  drainMs: 2_000,
  /** How long to wait in all: a background job may never stop printing. Far longer than the command's own output can take. */
  drainDeadlineMs: 10_000,
  /** Live chunks of each stream: more than a viewer can follow. */
  liveChunks: 10_000,
} as const;

/** How to run a command. */
export interface RunOptions {
  /**
   * End the command with everything it started after this many milliseconds since the call, including the start; `null`: never.
   * Default 10,000; `null` with a full capture, with `signal`, and with a `timeoutMs` of the spec, which the host then enforces.
   */
  readonly timeoutMs?: number | null;
  /** Ends the command in the same way. If it is already aborted, nothing is started. */
  readonly signal?: AbortSignal;
  /** Milliseconds from SIGTERM to SIGKILL. Default 0: SIGKILL at once. */
  readonly graceMs?: number;
  /**
   * `capped` (default) keeps the beginning and the end of each stream, together at most `capBytes` per stream. `full` keeps
   * everything, without a bound: only for trusted commands.
   */
  readonly capture?: "capped" | "full";
  /** Bytes to keep of each stream, and of both in `aggregated`. Default 1 MiB. */
  readonly capBytes?: number;
  /** The whole stdin, text as UTF-8; then it is closed. Without it, stdin is as the spec says and stays untouched. */
  readonly stdin?: string | Uint8Array;
  /** Milliseconds since the last output to wait for streams that other processes hold open after the exit. Default 2,000. */
  readonly drainMs?: number;
  /** Milliseconds since the exit to wait in all. Default 10,000. */
  readonly drainDeadlineMs?: number;
  /**
   * What to do with jobs that still hold a stream when the wait is over: `keep` (default) leaves them running, and their output
   * is read and dropped; `terminate` kills the tree. A timeout or an abort kills it in any case.
   */
  readonly leftBehind?: "keep" | "terminate";
  readonly clock?: Clock;
}

/** Returns the first problem of the options, if any. */
export function checkRunOptions(options: RunOptions): Problem | undefined {
  const { timeoutMs, capture = "capped", leftBehind = "keep", stdin } = options;
  const milliseconds = (["graceMs", "drainMs", "drainDeadlineMs"] as const)
    .map((field) => checkInteger(field, options[field] ?? 0, 0, MAX_TIMER_MS))
    .find((problem) => problem !== undefined);
  if (milliseconds) return milliseconds;
  if (stdin !== undefined && typeof stdin !== "string" && !(stdin instanceof Uint8Array)) {
    return { field: "stdin", message: "must be a string or a Uint8Array" };
  }
  if (capture !== "capped" && capture !== "full") return { field: "capture", message: 'must be "capped" or "full"' };
  if (leftBehind !== "keep" && leftBehind !== "terminate") {
    return { field: "leftBehind", message: 'must be "keep" or "terminate"' };
  }
  return (
    checkInteger("timeoutMs", timeoutMs ?? 0, 0, MAX_TIMER_MS) ??
    checkInteger("capBytes", options.capBytes ?? 0, 0, Number.MAX_SAFE_INTEGER)
  );
}

/** The options with all defaults filled in. */
export interface RunPlan {
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  readonly capBytes: number;
  readonly drainMs: number;
  readonly drainDeadlineMs: number;
}

/** Fills in the defaults. */
export function planOf(options: RunOptions, spec: Pick<ProcessSpec, "timeoutMs">): RunPlan {
  const isFull = options.capture === "full";
  // What the caller has chosen to end it by is not cut short by another limit.
  const isBounded = isFull || options.signal !== undefined || spec.timeoutMs !== undefined;
  return {
    timeoutMs: options.timeoutMs === undefined && !isBounded ? runDefaults.timeoutMs : (options.timeoutMs ?? null),
    graceMs: options.graceMs ?? 0,
    capBytes: isFull ? Number.POSITIVE_INFINITY : (options.capBytes ?? runDefaults.capBytes),
    drainMs: options.drainMs ?? runDefaults.drainMs,
    drainDeadlineMs: options.drainDeadlineMs ?? runDefaults.drainDeadlineMs,
  };
}
