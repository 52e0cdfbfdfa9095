// Every number that bounds exec sessions: unit in the name, reason beside it. Those of the Codex agent where it has one, so that
// what its prompts teach holds here. Relations between them are asserted in spec/unit/exec/session-limits.spec.ts.

/** Default limits of exec sessions. */
export const execLimits = {
  /** Sessions at once, ended ones that were not yet forgotten included: more than any agent keeps an eye on (Codex). */
  sessions: 64,
  /** How long a start waits when nothing is said: most commands of an agent are over by then (Codex). */
  startYieldMs: 10_000,
  /** How long a write waits when nothing is said: what a program takes to answer a keystroke (Codex). */
  writeYieldMs: 250,
  /** How long a poll waits when nothing is said. */
  pollYieldMs: 5_000,
  /** A start or write waits at least this long, or an agent would ask again for what comes in the next moment (Codex). */
  minYieldMs: 250,
  /** A start or write waits no longer: within what every client of tools allows a call (Codex). */
  maxYieldMs: 30_000,
  /** A poll waits at least this long while nothing ends: each one costs a turn of the model (Codex). */
  minPollMs: 5_000,
  /** A poll waits no longer (Codex). */
  maxPollMs: 300_000,
  /** Before a call says "still running" it waits this much longer for the exit: what ends just then is no session (Codex). */
  earlyExitMs: 150,
  /** From the exit on an answer waits so long for the end of the streams: far more than a pipe needs, unless it is held. */
  drainMs: 100,
  /** Output of an answer when nothing is said: 10,000 tokens (Codex). */
  outputBytes: 40_000,
  /** Output of an answer at most (Codex); also what one call holds in memory beside the log. */
  maxOutputBytes: 1024 * 1024,
  /** Bytes that count as one token: the usual estimate for English and code (Codex). */
  bytesPerToken: 4,
  /** After SIGKILL, how long a stop waits for the end of the streams: somebody out of reach may hold them. */
  stopDeadlineMs: 5_000,
} as const;

/** Limits of exec sessions as a caller may override them. */
export type ExecLimits = { readonly [K in keyof typeof execLimits]: number };
