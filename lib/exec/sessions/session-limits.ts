// All limits of exec sessions: unit in the name, reason in the comment. "(Codex)" marks a value of the Codex agent, so that what
// its prompts teach holds here too. The relations between limits are asserted in spec/unit/exec/sessions/session-limits.spec.ts.

/** Default limits of exec sessions. */
export const execLimits = {
  /** Sessions at a time, including ended ones that are still listed: more than any agent watches (Codex). */
  sessions: 64,
  /** Default wait of a start: most commands of an agent have ended by then (Codex). */
  startYieldMs: 10_000,
  /** Default wait of a write: enough for a program to respond to a keystroke (Codex). */
  writeYieldMs: 250,
  /** Default wait of a poll. */
  pollYieldMs: 5_000,
  /** Shortest wait of a start or write: otherwise an agent would have to poll for output that comes a moment later (Codex). */
  minYieldMs: 250,
  /** Longest wait of a start or write: every tool client allows a call this long (Codex). */
  maxYieldMs: 30_000,
  /** Shortest wait of a poll, unless the process ends: each poll costs a turn of the model (Codex). */
  minPollMs: 5_000,
  /** Longest wait of a poll (Codex). */
  maxPollMs: 300_000,
  /** Extra wait for the exit before "still running": a process that ends just then needs no session (Codex). */
  earlyExitMs: 150,
  /** Wait for the end of the streams after the exit: far longer than a pipe needs, unless another process holds it. */
  drainMs: 100,
  /** Default output of an answer: 10,000 tokens (Codex). */
  outputBytes: 40_000,
  /** Largest output of an answer (Codex); also the memory that one call needs besides the log. */
  maxOutputBytes: 1024 * 1024,
  /** Bytes per token: the usual estimate for English and code (Codex). */
  bytesPerToken: 4,
  /** How long a stop waits after SIGKILL for the end of the streams: a process outside the tree may hold them. */
  stopDeadlineMs: 5_000,
} as const;

/** Limits of exec sessions as a caller may override them. */
export type ExecLimits = { readonly [K in keyof typeof execLimits]: number };
