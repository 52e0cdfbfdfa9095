// Schemas of the tools' arguments and results. A model knows the tools only by these descriptions. The results are those of
// `lib/exec/sessions/session-types.ts`, with the same names.
import { z } from "zod";
import { execLimits } from "../../exec/sessions/session-limits.ts";
import { lenientArguments } from "./lenient-arguments.ts";

const { minYieldMs, maxYieldMs, minPollMs, maxPollMs, startYieldMs, writeYieldMs, pollYieldMs } = execLimits;
const count = z.number().int().nonnegative();

const sessionId = z.number().int().describe("The sessionId that exec_start returned.");
const quietMs = count
  .optional()
  .describe("Return earlier: once there is output and then none for this many ms. 0: at the first output.");
const maxTokens = count
  .optional()
  .describe(
    "Return at most about this many tokens of output (default 10000); the middle of longer output is left out.",
  );

function yieldMs(byDefault: number, min: number, max: number, more = "") {
  const text = `Return after at most this many ms (default ${byDefault}, from ${min} to ${max}), or at once when the process ends.${more}`;
  return count.optional().describe(text);
}

/** Not zod's record, which silently drops `__proto__`: a variable may have any name. */
const variables = z
  .any()
  .refine(isVariables, "must be an object of strings")
  .meta({
    type: "object",
    propertyNames: { type: "string" },
    additionalProperties: { type: "string" },
    description: "Environment variables to set, in addition to the inherited ones.",
  }) as z.ZodType<Readonly<Record<string, string>>>;

function isVariables(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((item) => typeof item === "string");
}

/** Arguments of `exec_start`. */
export const startInput = lenientArguments({
  command: z.string().optional().describe("A shell command line, run by `sh -c`. Give either command or argv."),
  argv: z.array(z.string()).optional().describe("Program and arguments, started without a shell."),
  shell: z.string().optional().describe("The shell for command, such as bash. Default: sh."),
  cwd: z.string().optional().describe("Absolute path of the working directory."),
  env: variables.optional(),
  tty: z
    .boolean()
    .optional()
    .describe(
      "Run it in a terminal: for programs that prompt (passwords, REPLs, installers). exec_write can then send input.",
    ),
  stdin: z
    .boolean()
    .optional()
    .describe("Keep stdin open for exec_write, without a terminal. Default: stdin is empty."),
  timeoutMs: count.optional().describe("After this many ms, end it with everything it started. Default: never."),
  yieldMs: yieldMs(startYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
});

/** Arguments of `exec_write`. */
export const writeInput = lenientArguments({
  sessionId,
  chars: z
    .string()
    .describe(
      "Text for stdin, sent unchanged: end a line with \\n. On a terminal the character U+0003 is Ctrl-C, U+0004 Ctrl-D.",
    ),
  eof: z.boolean().optional().describe("Close stdin afterwards."),
  yieldMs: yieldMs(writeYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
});

/** Arguments of `exec_poll`. */
export const pollInput = lenientArguments({
  sessionId,
  yieldMs: yieldMs(pollYieldMs, minPollMs, maxPollMs, " Some clients abort a call after 60 s."),
  quietMs,
  maxTokens,
});

/** Arguments of `exec_signal`. */
export const signalInput = lenientArguments({
  sessionId,
  signal: z
    .string()
    .regex(/^(SIG)?[A-Z0-9+-]+$/)
    .describe(
      "SIGINT (like Ctrl-C), SIGTERM, SIGHUP, SIGUSR1 and so on; exec_stop is the reliable way to end a process.",
    ),
  yieldMs: yieldMs(writeYieldMs, minYieldMs, maxYieldMs),
  quietMs,
  maxTokens,
});

/** Arguments of `exec_stop`. */
export const stopInput = lenientArguments({
  sessionId,
  graceMs: count.optional().describe("Time from SIGTERM to SIGKILL (default 5000); 0 kills at once."),
  maxTokens,
});

const facts = {
  processId: z.string(),
  exited: z.boolean(),
  exitCode: z.number().nullable().describe("null while it runs, and when a signal ended it"),
  signal: z.string().nullable().describe("the signal that ended it"),
  reason: z.string().nullable().describe("exited, signal, terminate, timeout or lost"),
  sandboxDenied: z.boolean(),
  networkDenied: z.boolean().optional().describe("true if the network policy refused a connection"),
  outputClosed: z.boolean().describe("every output stream has ended"),
  outputDrained: z.boolean().describe("all output has been returned or counted as omitted"),
  failure: z
    .object({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) })
    .optional()
    .describe("contact with the process was lost, see code and message"),
};

/** The result of every tool but `exec_list`. */
export const resultOutput = {
  sessionId: z.number().optional().describe("present while there can be more output"),
  ...facts,
  head: z.string().describe("the new output; only its beginning if some is omitted"),
  tail: z.string().describe("the end of the new output if some is omitted, else empty"),
  omittedBytes: z.number(),
  omittedAtLeast: z.literal(true).optional(),
  input: z.enum(["accepted", "pending", "stdinClosed"]).optional(),
  tookMs: z.number(),
};

/** The result of `exec_list`. */
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
