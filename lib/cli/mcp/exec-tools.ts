// Exec sessions as tools of the Model Context Protocol. Each result has data (structuredContent) and the same as text.
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  type EnvPolicy,
  loginShell,
  type ProcessSpec,
  present,
  type SandboxPolicy,
  type SignalName,
} from "../../../protocol/index.ts";
import { ExecwireError, invalidParams } from "../../errors.ts";
import type { ExecResult } from "../../exec/sessions/session-types.ts";
import type { ExecSessions } from "../../exec/sessions/sessions.ts";
import { listOutput, pollInput, resultOutput, signalInput, startInput, stopInput, writeInput } from "./tool-schemas.ts";
import { DESCRIPTIONS, listText, resultText } from "./tool-texts.ts";

/** Defaults of every command. */
export interface CommandDefaults {
  readonly envPolicy: EnvPolicy;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** The shell of command lines that get the set-up of the user's login shell; undefined: without it. */
  readonly snapshotShell?: string | undefined;
  /** The sandbox of every command; the agent cannot choose another one. */
  readonly sandbox: SandboxPolicy | undefined;
}

/** Registers the tools at a server. */
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
    ({ command, argv, shell, cwd = defaults.cwd, env, tty, stdin, timeoutMs, ...waitArgs }, { signal }) =>
      answer(() =>
        sessions.start(
          present({
            ...argvOf(command, argv, shell, defaults.snapshotShell),
            cwd,
            env: { ...defaults.env, ...env },
            envPolicy: defaults.envPolicy,
            sandbox: defaults.sandbox,
            tty,
            pipeStdin: stdin,
            timeoutMs,
            ...yieldOptions(waitArgs, signal),
          }),
        ),
      ),
  );
  server.registerTool(
    "exec_write",
    {
      title: "Write to a session",
      description: DESCRIPTIONS.write,
      inputSchema: writeInput,
      outputSchema: resultOutput,
    },
    ({ sessionId, chars, eof, ...waitArgs }, { signal }) =>
      answer(() => sessions.write(sessionId, present({ chars, eof, ...yieldOptions(waitArgs, signal) }))),
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
    ({ sessionId, ...waitArgs }, { signal }) => answer(() => sessions.poll(sessionId, yieldOptions(waitArgs, signal))),
  );
  server.registerTool(
    "exec_signal",
    {
      title: "Signal a session",
      description: DESCRIPTIONS.signal,
      inputSchema: signalInput,
      outputSchema: resultOutput,
    },
    ({ sessionId, signal: name, ...waitArgs }, { signal }) =>
      answer(() => sessions.signal(sessionId, name as SignalName, yieldOptions(waitArgs, signal))),
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

/** The result of a call. A refusal is a result too, for the model to read; any other error is a bug and thrown. */
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

interface WaitArgs {
  readonly yieldMs?: number | undefined;
  readonly quietMs?: number | undefined;
  readonly maxTokens?: number | undefined;
}

function yieldOptions({ yieldMs, quietMs, maxTokens }: WaitArgs, signal: AbortSignal) {
  return present({ yieldMs, quietMs, budget: budgetOf(maxTokens), signal });
}

function budgetOf(tokens: number | undefined) {
  return tokens === undefined ? undefined : { tokens };
}

function argvOf(
  command: string | undefined,
  argv: readonly string[] | undefined,
  shell: string | undefined,
  snapshotShell: string | undefined,
): Pick<ProcessSpec, "argv" | "shellSnapshot"> {
  if (command !== undefined && argv === undefined) {
    const login = [shell ?? snapshotShell ?? "sh", "-lc", command];
    const isCaptured = snapshotShell !== undefined && loginShell({ argv: login }) !== undefined;
    if (isCaptured) return { argv: login, shellSnapshot: { scope: "execwire mcp" } };
    return { argv: [shell ?? "sh", "-c", command] };
  }
  if (argv !== undefined && command === undefined) return { argv };
  throw invalidParams({ field: "command", message: "or argv must be given, but not both" });
}
