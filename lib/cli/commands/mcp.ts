// `execwire mcp`: serves exec sessions as tools for an AI agent on stdin and stdout. All processes end with the client.
import { type Command, InvalidArgumentError } from "commander";
import { loginShell } from "../../../protocol/index.ts";
import type { PathMapping } from "../../exec/sessions/path-mapping.ts";
import { openExecSessions } from "../../exec/sessions/sessions.ts";
import type { Backend } from "../../process/backend.ts";
import { absoluteDirectory, addServerOptions, collectPairs, type ServerOptions } from "../options.ts";
import { say, sayStray, UsageError } from "../report.ts";
import { addSandboxOptions, SANDBOX_HELP, type SandboxOptions, sandboxPolicy } from "../sandbox-options.ts";
import { ShutdownSignal } from "../server/shutdown-signal.ts";

interface McpOptions extends ServerOptions, SandboxOptions {
  readonly remote?: boolean;
  readonly cwd?: string;
  readonly env: Record<string, string>;
  readonly workspace?: PathMapping;
  readonly shellSnapshot?: boolean;
}

/** Clients give a server about two seconds to exit (the official SDK: 2 s, then SIGTERM, 2 s later SIGKILL). */
const CLOSE_GRACE_MS = 1_000;

/** For commands without a human user: no pager that waits for a key, no escape sequences in the output. */
const UNATTENDED = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat", GH_PAGER: "cat" };

/** Defines the options of `mcp`. */
export function define(command: Command): void {
  command
    .option("--remote", "run commands on the server started by `execwire serve`, not in this program")
    .option(
      "-C, --cwd <directory>",
      "default directory of commands (default: the current one; on a server, the server's)",
    )
    .option(
      "-e, --env <name=value>",
      "set an environment variable for every command; may be repeated",
      collectPairs,
      {},
    )
    .option(
      "--workspace <local=remote>",
      "your directory and its path on the server: a cwd inside the first becomes one inside the second",
      parsePathMapping,
    )
    .option(
      "--shell-snapshot",
      "give command lines the set-up of your login shell: its start-up files run once, not for each command",
    )
    .addHelpText("after", HELP)
    .action((options: McpOptions) => host(options, command.parent?.version() ?? ""));
  addSandboxOptions(command);
  addServerOptions(command);
}

async function host(options: McpOptions, version: string): Promise<void> {
  const { workspace, cwd } = options;
  const isRemote = options.remote || options.url !== undefined;
  if (workspace && !isRemote) throw new UsageError("--workspace needs a server: add --remote or --url");
  // The agent chooses the directory of each command, which must not decide what the command may write.
  const workplace = isRemote ? (workspace?.remote ?? cwd) : absoluteDirectory(cwd);
  const sandbox = sandboxPolicy(options, workplace);
  const shutdown = new ShutdownSignal();
  process.stdout.on("error", () => shutdown.request("stdout was closed"));
  const backend = await (isRemote ? openRemote(options) : openLocal());
  const sessions = openExecSessions(backend, workspace && { workspace });
  const cleanups: (() => unknown)[] = [() => shutdown.release(), () => backend.close({ graceMs: CLOSE_GRACE_MS })];
  try {
    const { serveTools } = await import("../mcp/serve-tools.ts");
    const close = await serveTools(sessions, {
      version,
      env: { ...UNATTENDED, ...options.env },
      envPolicy: { inherit: isRemote ? "core" : "all" },
      sandbox,
      // On a server, a path of this machine is valid only with a workspace mapping.
      cwd: isRemote && (!workspace || cwd === undefined) ? cwd : cwd && absoluteDirectory(cwd),
      snapshotShell: options.shellSnapshot ? userShell(isRemote) : undefined,
      onGone: (reason) => shutdown.request(reason),
    });
    cleanups.push(close, () => sessions.close({ graceMs: CLOSE_GRACE_MS }));
    shutdown.watchStdin();
    say(`shutting down, ending all processes: ${await shutdown.requested}`);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

/** The shell whose set-up is meant: the user's own, where it is one that can be captured. */
function userShell(isRemote: boolean): string {
  const { SHELL = "" } = process.env;
  return !isRemote && loginShell({ argv: [SHELL, "-lc", ""] }) ? SHELL : "bash";
}

async function openLocal(): Promise<Backend> {
  const [{ createSupervisor }, { hasProc }] = await Promise.all([
    import("../../local/supervisor.ts"),
    import("../../spawn/proc/proc.ts"),
  ]);
  return createSupervisor({
    subreaper: true,
    onSupervisorDeath: hasProc() ? "kill" : "keep",
    onError: sayStray,
  });
}

async function openRemote(options: McpOptions): Promise<Backend> {
  const { openServer } = await import("../server/open-server.ts");
  return (await openServer(options)).backend;
}

function parsePathMapping(text: string): PathMapping {
  const [, local, remote] = /^([^=]+)=(\/.*)$/.exec(text) ?? [];
  if (local === undefined || remote === undefined) {
    throw new InvalidArgumentError("It must have the form LOCAL=REMOTE, such as /home/me/app=/data/app.");
  }
  return { local: absoluteDirectory(local), remote };
}

const HELP = `
A tool server for AI agents: it speaks the Model Context Protocol on stdin and stdout. Its tools are
exec_start, exec_write, exec_poll, exec_signal, exec_list and exec_stop. If a command ends in time,
the result has its output and exit code. If it keeps running (a server, a prompt, a long build), it
becomes a session that can be polled, written to and stopped. When the client goes away, all
processes end.

In the client's configuration:
  { "mcpServers": { "execwire": { "command": "npx", "args": ["execwire", "mcp"] } } }

Commands inherit the environment of this program, except variables whose names contain KEY, SECRET
or TOKEN (use --env to pass one); pagers and colours are turned off. With --remote or --url they run
on a server, with the server's HOME, PATH and the like.
${SANDBOX_HELP}
The directory is that of --cwd, also for a command that the agent starts in another one.

Examples:
  execwire mcp                                                 commands run on this machine
  execwire mcp --cwd /srv/app --env GITHUB_TOKEN="$TOKEN"
  execwire mcp --sandbox workspace-write                       commands write only this directory
  execwire mcp --url ws://host:7300 --token-file token         on another machine
  execwire mcp --url ws://host:7300 --workspace /home/me/app=/data/app`;
