// Serves the tools on stdin and stdout to the client that started this program.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { ExecSessions } from "../../exec/sessions/sessions.ts";
import { type CommandDefaults, registerExecTools } from "./exec-tools.ts";
import { INSTRUCTIONS } from "./tool-texts.ts";

/** How to serve. */
export interface ServeToolsOptions extends CommandDefaults {
  readonly version: string;
  /** Called when the transport is closed. The SDK's transport does not notice the end of stdin. */
  readonly onGone: (reason: string) => void;
}

/** Serves until the returned function is called. */
export async function serveTools(
  sessions: ExecSessions,
  { version, onGone, ...defaults }: ServeToolsOptions,
): Promise<() => Promise<void>> {
  const server = new McpServer({ name: "execwire", version }, { instructions: INSTRUCTIONS });
  registerExecTools(server, sessions, defaults);
  server.server.onclose = () => onGone("the client closed the connection");
  await server.connect(new StdioServerTransport());
  return () => server.close();
}
