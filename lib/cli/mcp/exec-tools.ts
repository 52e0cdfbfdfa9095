// Exec sessions as tools of the Model Context Protocol. Each answer is data (structuredContent) and the same in words.
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { type EnvPolicy, present, type SignalName } from "../../../protocol/index.ts";
import { ExecwireError, invalidParams } from "../../errors.ts";
import type { ExecResult } from "../../exec/session-types.ts";
import type { ExecSessions } from "../../exec/sessions.ts";
import { listOutput, pollInput, resultOutput, signalInput, startInput, stopInput, writeInput } from "./tool-schemas.ts";
import { DESCRIPTIONS, listText, resultText } from "./tool-texts.ts";

/** What every command gets. */
export interface CommandDefaults {
  readonly envPolicy: EnvPolicy;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** Offers the sessions to the clients of a server. */
export function registerExecTools(server: McpServer, sessions: ExecSessions, defaults: CommandDefaults): void {
  server.registerTool(
    "exec_start",
    {
      title: "Start a command",
      description: DESCRIPTIONS.start,
      inputSchema: startInput,
      outputSchema: resultOutput,
      annotations: { destructiveHint: true, openWorldHint: true },
    },
    ({ command, argv, shell, cwd = defaults.cwd, env, tty, stdin, timeoutMs, ...wait }, { signal }) =>
      answer(() =>
        sessions.start(
          present({
            argv: argvOf(command, argv, shell),
            cwd,
            env: { ...defaults.env, ...env },
            envPolicy: defaults.envPolicy,
            tty,
            pipeStdin: stdin,
            timeoutMs,
            ...waiting(wait, signal),
          }),
        ),
      ),
  );
  server.registerTool(
    "exec_write",
    {
      title: "Type into a session",
      description: DESCRIPTIONS.write,
      inputSchema: writeInput,
      outputSchema: resultOutput,
    },
    ({ sessionId, chars, eof, ...wait }, { signal }) =>
      answer(() => sessions.write(sessionId, present({ chars, eof, ...waiting(wait, signal) }))),
  );
  server.registerTool(
    "exec_poll",
    {
      title: "Wait for a session",
      description: DESCRIPTIONS.poll,
      inputSchema: pollInput,
      outputSchema: resultOutput,
      annotations: { destructiveHint: false },
    },
    ({ sessionId, ...wait }, { signal }) => answer(() => sessions.poll(sessionId, waiting(wait, signal))),
  );
  server.registerTool(
    "exec_signal",
    {
      title: "Signal a session",
      description: DESCRIPTIONS.signal,
      inputSchema: signalInput,
      outputSchema: resultOutput,
    },
    ({ sessionId, signal: name, ...wait }, { signal }) =>
      answer(() => sessions.signal(sessionId, name as SignalName, waiting(wait, signal))),
  );
  server.registerTool(
    "exec_list",
    {
      title: "List sessions",
      description: DESCRIPTIONS.list,
      outputSchema: listOutput,
      annotations: { readOnlyHint: true },
    },
    () => {
      const list = sessions.list();
      return { content: [{ type: "text", text: listText(list) }], structuredContent: { sessions: list } };
    },
  );
  server.registerTool(
    "exec_stop",
    { title: "Stop a session", description: DESCRIPTIONS.stop, inputSchema: stopInput, outputSchema: resultOutput },
    ({ sessionId, graceMs, maxTokens }) =>
      answer(() => sessions.stop(sessionId, present({ graceMs, budget: budgetOf(maxTokens) }))),
  );
}

/** A call's answer. What is refused is an answer too, for the model to read; a bug is one of the server. */
async function answer(call: () => Promise<ExecResult>): Promise<CallToolResult> {
  try {
    const result = await call();
    return { content: [{ type: "text", text: resultText(result) }], structuredContent: { ...result } };
  } catch (error) {
    if (!(error instanceof ExecwireError)) throw error;
    const { code, message, data } = error;
    return { content: [{ type: "text", text: `${code}: ${message}` }], isError: true, _meta: { code, data } };
  }
}

interface Wait {
  readonly yieldMs?: number | undefined;
  readonly quietMs?: number | undefined;
  readonly maxTokens?: number | undefined;
}

function waiting({ yieldMs, quietMs, maxTokens }: Wait, signal: AbortSignal) {
  return present({ yieldMs, quietMs, budget: budgetOf(maxTokens), signal });
}

function budgetOf(tokens: number | undefined) {
  return tokens === undefined ? undefined : { tokens };
}

function argvOf(command: string | undefined, argv: readonly string[] | undefined, shell = "sh"): readonly string[] {
  if (command !== undefined && argv === undefined) return [shell, "-c", command];
  if (argv !== undefined && command === undefined) return argv;
  throw invalidParams({ field: "command", message: "or argv must be given, one of the two" });
}
