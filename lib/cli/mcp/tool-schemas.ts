// What the tools take and answer, as schemas: the descriptions are all that a model knows of them. The answers are those of
// `lib/exec/session-types.ts`, under the same names.
import { z } from "zod";
import { execLimits } from "../../exec/session-limits.ts";

const { minYieldMs, maxYieldMs, minPollMs, maxPollMs, startYieldMs, writeYieldMs, pollYieldMs } = execLimits;
const count = z.number().int().nonnegative();

const sessionId = z.number().int().describe("The sessionId that exec_start answered with.");
const quietMs = count
  .optional()
  .describe("Answer earlier: once there is output and nothing more has come for this many ms. 0: at the first output.");
const maxTokens = count
  .optional()
  .describe("Return about this many tokens of output at most (default 10000); the middle of more is left out.");

function yieldMs(byDefault: number, min: number, max: number, more = "") {
  const text = `Answer after this many ms at the latest (default ${byDefault}, from ${min} to ${max}); the end answers at once.${more}`;
  return count.optional().describe(text);
}

/** Not a record of zod, which leaves out `__proto__` without a word: a variable may have any name. */
const variables = z
  .any()
  .refine(isVariables, "must be an object of strings")
  .meta({
    type: "object",
    propertyNames: { type: "string" },
    additionalProperties: { type: "string" },
    description: "Variables to set, beside those that commands inherit.",
  }) as z.ZodType<Readonly<Record<string, string>>>;

function isVariables(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((item) => typeof item === "string");
}

/** What `exec_start` takes. */
export const startInput = {
  command: z.string().optional().describe("A shell command line, run by `sh -c`. Give either this or argv."),
  argv: z.array(z.string()).optional().describe("Program and arguments, started without a shell."),
  shell: z.string().optional().describe("The shell for command, such as bash. Default: sh."),
  cwd: z.string().optional().describe("Absolute path of the working directory."),
  env: variables.optional(),
  tty: z
    .boolean()
    .optional()
    .describe("Give it a terminal: for programs that ask (passwords, REPLs, installers). It then takes input."),
  stdin: z
    .boolean()
    .optional()
    .describe("Keep stdin open for exec_write, without a terminal. Default: stdin is empty."),
  timeoutMs: count.optional().describe("End it with everything it started after this many ms. Default: never."),
  yieldMs: yieldMs(startYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
};

/** What `exec_write` takes. */
export const writeInput = {
  sessionId,
  chars: z
    .string()
    .describe(
      "Text for stdin, exactly as it is: end a line with \\n. On a terminal the character U+0003 is Ctrl-C, U+0004 Ctrl-D.",
    ),
  eof: z.boolean().optional().describe("End stdin afterwards."),
  yieldMs: yieldMs(writeYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
};

/** What `exec_poll` takes. */
export const pollInput = {
  sessionId,
  yieldMs: yieldMs(pollYieldMs, minPollMs, maxPollMs, " Some clients give up on a call after 60 s."),
  quietMs,
  maxTokens,
};

/** What `exec_signal` takes. */
export const signalInput = {
  sessionId,
  signal: z
    .string()
    .regex(/^SIG[A-Z0-9+-]+$/)
    .describe("SIGINT (as Ctrl-C), SIGTERM, SIGHUP, SIGUSR1 and so on; to end a process for sure use exec_stop."),
  yieldMs: yieldMs(writeYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
};

/** What `exec_stop` takes. */
export const stopInput = {
  sessionId,
  graceMs: count.optional().describe("Time from SIGTERM to SIGKILL (default 5000); 0 kills at once."),
  maxTokens,
};

const facts = {
  processId: z.string(),
  exited: z.boolean(),
  exitCode: z.number().nullable().describe("null while it runs, and after a death by signal"),
  signal: z.string().nullable().describe("the signal that ended it"),
  reason: z.string().nullable().describe("exited, signal, terminate, timeout or lost"),
  sandboxDenied: z.boolean(),
  outputClosed: z.boolean().describe("every output stream has ended"),
  outputDrained: z.boolean().describe("all output was returned, or counted as omitted"),
  failure: z
    .object({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) })
    .optional()
    .describe("contact with the process was lost"),
};

/** What all tools but `exec_list` answer. */
export const resultOutput = {
  sessionId: z.number().optional().describe("present while more can come"),
  ...facts,
  head: z.string().describe("the new output; its beginning when something is omitted"),
  tail: z.string().describe("its end when something is omitted"),
  omittedBytes: z.number(),
  omittedAtLeast: z.literal(true).optional(),
  input: z.enum(["accepted", "pending", "stdinClosed"]).optional(),
  tookMs: z.number(),
};

/** What `exec_list` answers. */
export const listOutput = {
  sessions: z.array(
    z.object({
      sessionId: z.number(),
      ...facts,
      argv: z.array(z.string()),
      cwd: z.string(),
      tty: z.boolean(),
      stdin: z.boolean(),
      state: z.string(),
      startedAt: z.number(),
      unreadBytes: z.number().optional(),
    }),
  ),
};
