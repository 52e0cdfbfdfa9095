// `execwire mcp`: exec sessions as tools for an AI agent, on stdin and stdout, until its client is gone; then everything it
// started ends too.
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { PathMapping } from "../../exec/path-mapping.ts";
import { openExecSessions } from "../../exec/sessions.ts";
import type { Backend } from "../../process/backend.ts";
import { EndRequest } from "../end-request.ts";
import { addServerOptions, collectPairs, type ServerOptions } from "../options.ts";
import { say, UsageError } from "../report.ts";

interface McpOptions extends ServerOptions {
  readonly remote?: boolean;
  readonly cwd?: string;
  readonly env: Record<string, string>;
  readonly workspace?: PathMapping;
}

/** Clients give a server about two seconds to end (the official SDK: 2 s, then SIGTERM, 2 s later SIGKILL). */
const GONE_GRACE_MS = 1_000;

/** Without a person in front: no pager waits for a key, and nobody wants to read escape sequences. */
const UNATTENDED = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat", GH_PAGER: "cat" };

/** Says what `mcp` takes. */
export function define(command: Command): void {
  command
    .option("--remote", "run commands on the server of `execwire serve` instead of in this program")
    .option("-C, --cwd <directory>", "where commands run when they do not say (default: here; remotely, the server's)")
    .option("-e, --env <name=value>", "set a variable for every command; repeat for more", collectPairs, {})
    .option(
      "--workspace <local=remote>",
      "your directory and its path on the server: commands name yours, and run in the other",
      parsePathMapping,
    )
    .addHelpText("after", HELP)
    .action((options: McpOptions) => host(options, command.parent?.version() ?? ""));
  addServerOptions(command);
}

async function host(options: McpOptions, version: string): Promise<void> {
  const { workspace, cwd } = options;
  const isRemote = options.remote || options.url !== undefined;
  if (workspace && !isRemote) throw new UsageError("--workspace is for commands on a server: give --remote or --url");
  const end = new EndRequest();
  process.stdout.on("error", () => end.request("stdout was closed"));
  const backend = await (isRemote ? openRemote(options) : openLocal());
  const sessions = openExecSessions(backend, workspace && { workspace });
  const undo: (() => unknown)[] = [() => end.release(), () => backend.close({ graceMs: GONE_GRACE_MS })];
  try {
    const { serveTools } = await import("../mcp/serve-tools.ts");
    const close = await serveTools(sessions, {
      version,
      env: { ...UNATTENDED, ...options.env },
      envPolicy: { inherit: isRemote ? "core" : "all" },
      // A directory here means something there only where we were told what.
      cwd: isRemote && (!workspace || cwd === undefined) ? cwd : resolve(cwd ?? "."),
      onGone: (reason) => end.request(reason),
    });
    undo.push(close, () => sessions.close({ graceMs: GONE_GRACE_MS }));
    end.watchStdin();
    say(`ending, with all processes: ${await end.requested}`);
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function openLocal(): Promise<Backend> {
  const [{ createSupervisor }, { hasProc }] = await Promise.all([
    import("../../local/supervisor.ts"),
    import("../../spawn/proc.ts"),
  ]);
  return createSupervisor({
    subreaper: true,
    onSupervisorDeath: hasProc() ? "kill" : "keep",
    onError: (error) => say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
}

async function openRemote(options: McpOptions): Promise<Backend> {
  const { openServer } = await import("../open-server.ts");
  return (await openServer(options)).backend;
}

function parsePathMapping(text: string): PathMapping {
  const [, local, remote] = /^([^=]+)=(\/.*)$/.exec(text) ?? [];
  if (local === undefined || remote === undefined) {
    throw new InvalidArgumentError("It must have the form LOCAL=REMOTE, such as /home/me/app=/data/app.");
  }
  return { local: resolve(local), remote };
}

const HELP = `
Speaks the Model Context Protocol on stdin and stdout: an AI agent starts it as a tool server. Its tools
are exec_start, exec_write, exec_poll, exec_signal, exec_list and exec_stop. A command that ends in time is
answered with its output and exit code; one that goes on (a server, a prompt, a long build) becomes a
session that can be polled, typed into and stopped. When the client goes away, everything ends.

In the client's configuration:
  { "mcpServers": { "execwire": { "command": "npx", "args": ["execwire", "mcp"] } } }

Commands inherit the environment of this program without variables whose names contain KEY, SECRET or
TOKEN (pass on what they need with --env), and no pagers or colours. With --remote or --url they run on a
server, with the server's HOME, PATH and the like.

Examples:
  execwire mcp                                                 commands run here
  execwire mcp --cwd /srv/app --env GITHUB_TOKEN="$TOKEN"
  execwire mcp --url ws://host:7300 --token-file token         on another machine
  execwire mcp --url ws://host:7300 --workspace /home/me/app=/data/app`;
