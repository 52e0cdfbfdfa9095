// How a command is run to its end, and the numbers that hold when nobody says otherwise.
import { checkInteger, MAX_TIMER_MS, type Problem } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";

/** Defaults of `run`. They are the caller's and no limits of a host, so they are not in `protocol/limits.ts`. */
export const runDefaults = {
  /** Long enough for what is typed by hand or by an agent, short enough to notice what waits for input. */
  timeoutMs: 10_000,
  /** Bytes kept of each stream, and of both together: a runaway command must not fill the caller's memory. */
  capBytes: 1024 * 1024,
  /** Silence after the exit, with a stream still open, after which nobody waits any more. Plenty for pipes. */
  drainMs: 2_000,
  /** The same, however much is printed: a job in the background may never stop. Far beyond what the command itself can have left. */
  drainDeadlineMs: 10_000,
  /** Live chunks told of each stream; who wants to see more is not looking at them. */
  liveChunks: 10_000,
} as const;

/** How to run a command. */
export interface RunOptions {
  /**
   * End it with everything it started after this many milliseconds, counted here from the call, the start included. `null`: never.
   * Default 10,000; with a full capture `null`.
   */
  readonly timeoutMs?: number | null;
  /** Ends it likewise. One that is aborted already starts nothing. */
  readonly signal?: AbortSignal;
  /** Milliseconds from SIGTERM to SIGKILL when it must end. Default 0: SIGKILL at once. */
  readonly graceMs?: number;
  /**
   * `capped` (default) keeps the beginning and the end of each stream, `capBytes` in all. `full` keeps everything, whatever that
   * takes; for commands one knows.
   */
  readonly capture?: "capped" | "full";
  /** Default 1 MiB. */
  readonly capBytes?: number;
  /** Its whole stdin, text as UTF-8; then it is closed. Without it stdin is as the spec says, and left alone. */
  readonly stdin?: string | Uint8Array;
  /** How long to wait for streams that others hold open after the exit, since the last output. Default 2,000. */
  readonly drainMs?: number;
  /** The same in all, since the exit. Default 10,000. */
  readonly drainDeadlineMs?: number;
  /**
   * What becomes of jobs that still hold a stream when nobody waits any more: `keep` (default) lets them run on, what they
   * print is read and dropped; `terminate` kills the tree. A timeout or an abort kills it in any case.
   */
  readonly leftBehind?: "keep" | "terminate";
  readonly clock?: Clock;
}

/** The problem of options. */
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
    checkInteger("timeoutMs", timeoutMs ?? 1, 1, MAX_TIMER_MS) ??
    checkInteger("capBytes", options.capBytes ?? 0, 0, Number.MAX_SAFE_INTEGER)
  );
}

/** Options with nothing left open. */
export interface RunPlan {
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  readonly capBytes: number;
  readonly drainMs: number;
  readonly drainDeadlineMs: number;
}

/** Fills in what was not said. */
export function planOf(options: RunOptions): RunPlan {
  const isFull = options.capture === "full";
  return {
    timeoutMs: options.timeoutMs === undefined && !isFull ? runDefaults.timeoutMs : (options.timeoutMs ?? null),
    graceMs: options.graceMs ?? 0,
    capBytes: isFull ? Number.POSITIVE_INFINITY : (options.capBytes ?? runDefaults.capBytes),
    drainMs: options.drainMs ?? runDefaults.drainMs,
    drainDeadlineMs: options.drainDeadlineMs ?? runDefaults.drainDeadlineMs,
  };
}
