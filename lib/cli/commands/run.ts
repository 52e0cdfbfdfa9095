// `execwire run`: one command, passed through, here or on a server. Nothing it prints is lost, however slow our own reader
// is; nothing it started through its process group outlives it when we are told to end.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { type ProcessSpec, present } from "../../../protocol/index.ts";
import type { Link } from "../../client/link.ts";
import type { Backend } from "../../process/backend.ts";
import type { SpawnerName } from "../../spawn/load-spawner.ts";
import { ALL_SIGNALS } from "../forward-signals.ts";
import {
  addServerOptions,
  collectPairs,
  milliseconds,
  parseSeconds,
  type ServerOptions,
  spawnerOption,
} from "../options.ts";
import { write } from "../output.ts";
import { passThrough } from "../pass-through.ts";
import { say, UsageError } from "../report.ts";
import { terminalSize } from "../terminal.ts";

/** Options of `run`, as the command line parses them. */
interface RunOptions extends ServerOptions {
  readonly tty?: boolean;
  readonly interactive?: boolean;
  readonly timeout?: number;
  readonly grace?: number;
  readonly env: Record<string, string>;
  readonly cwd?: string;
  readonly spawner?: SpawnerName;
  readonly remote?: boolean;
  readonly detach?: boolean;
  readonly id?: string;
  readonly label: Record<string, string>;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Where the command is to run. */
interface Place {
  readonly backend: Backend;
  /** On this machine, so that our directory means something there. */
  readonly isHere: boolean;
  readonly link?: Link;
}

/** Says what `run` takes. */
export function define(command: Command): void {
  command
    .argument("<command>", "program to run; put -- before it, so that its options stay its own")
    .argument("[args...]", "its arguments")
    .option("-t, --tty", "give it a terminal (raw mode and resize follow yours)")
    .option("-i, --interactive", "pass stdin on (with -t from a terminal, implied)")
    .option("--timeout <seconds>", "end it with everything it started after this time, exit code 124", parseSeconds)
    .option("--grace <seconds>", "time from SIGTERM to SIGKILL when it must end (a server has its own)", parseSeconds)
    .option("-e, --env <name=value>", "set a variable; repeat for more", collectPairs, {})
    .option("-C, --cwd <directory>", "run it there; with --url an absolute path of the server's machine")
    .option("--id <id>", "name it, instead of a new uuid")
    .option("-l, --label <name=value>", "label it; repeat for more", collectPairs, {})
    .addOption(spawnerOption())
    .addOption(
      new Option("--json", "instead of its output print its outcome, as one line").conflicts(["quiet", "detach"]),
    )
    .addOption(new Option("-q, --quiet", "print nothing that it prints; the exit code is all").conflicts("detach"))
    .option("--remote", "run it on the server of `execwire serve` instead of in this program")
    .option("-d, --detach", "print its id and leave it running on the server (implies --remote)")
    .passThroughOptions()
    .addHelpText("after", HELP)
    .action(async (program: string, args: string[], options: RunOptions) => {
      process.exitCode = await run([program, ...args], options);
    });
  addServerOptions(command);
}

async function run(argv: readonly string[], options: RunOptions): Promise<number> {
  const isRemote = options.remote || options.detach || options.url !== undefined;
  if (isRemote && (options.grace !== undefined || options.spawner)) {
    throw new UsageError("--grace and --spawner are the server's: give them to execwire serve");
  }
  const place = await (isRemote ? openRemote(options) : openLocal(options));
  try {
    const isInteractive = options.interactive || (options.tty && process.stdin.isTTY) || false;
    const spec = specOf(argv, options, { isRemote, isInteractive, isHere: place.isHere });
    if (options.json || options.quiet) {
      const { runCaptured } = await import("../run-captured.ts");
      return await runCaptured(place.backend, spec, { json: options.json, stdin: isInteractive, link: place.link });
    }
    const child = await place.backend.start(spec);
    if (options.detach) {
      await write("stdout", `${child.id}\n`);
      return 0;
    }
    const code = await passThrough(child, {
      delivery: "lossless",
      terminal: options.tty ?? false,
      stdin: isInteractive,
      passEnd: true,
      signals: ALL_SIGNALS,
      link: place.link,
    });
    return code ?? 0;
  } finally {
    await place.backend.close();
  }
}

async function openLocal({ spawner, grace }: RunOptions): Promise<Place> {
  const [{ createSupervisor }, { hasProc }] = await Promise.all([
    import("../../local/supervisor.ts"),
    import("../../spawn/proc.ts"),
  ]);
  const options = present({
    subreaper: true,
    onSupervisorDeath: hasProc() ? ("kill" as const) : ("keep" as const),
    limits: milliseconds("graceMs", grace),
    onError: (error: unknown) => say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    spawner,
  });
  return { backend: createSupervisor(options), isHere: true };
}

async function openRemote(options: RunOptions): Promise<Place> {
  const { openServer } = await import("../open-server.ts");
  const { backend, isLocal } = await openServer(options);
  return { backend, isHere: isLocal, link: backend.link };
}

function specOf(
  argv: readonly string[],
  options: RunOptions,
  { isRemote, isInteractive, isHere }: { isRemote: boolean; isInteractive: boolean; isHere: boolean },
): ProcessSpec {
  const { TERM } = process.env;
  const cwd = isHere ? resolve(options.cwd ?? ".") : options.cwd;
  return present({
    argv,
    processId: options.id,
    cwd,
    // Our whole environment is not for another program; but what a terminal can do is known here only.
    env: present({ TERM: isRemote && options.tty ? TERM : undefined, ...options.env }),
    envPolicy: isRemote ? { inherit: "core" as const } : { inherit: "all" as const, ignoreDefaultExcludes: true },
    pipeStdin: isInteractive,
    tty: options.tty ? terminalSize(process.stdout) : undefined,
    ...milliseconds("timeoutMs", options.timeout || undefined),
    onDetach: options.detach ? ("keep" as const) : undefined,
    labels: options.label,
  });
}

const HELP = `
Exit code:
  that of the command; 128+n when signal n ended it; 124 timeout; 126 cannot be executed;
  127 not found; 125 execwire itself failed; 2 wrong usage; 69 no server, or the connection
  is lost for good; 77 the server does not know the token

Examples:
  execwire run -- sh -c 'echo out; echo err >&2; exit 3'    two streams, exit code 3
  execwire run --timeout 10 -- make test                    ended with its children after 10 s
  execwire run -t -- bash                                   an interactive shell
  execwire run --json -- make test                          what became of it, for a program to read
  echo hello | execwire run -i -- cat                       stdin passed on
  execwire run -d --id build -- make                        on the server of execwire serve, and
  execwire attach build                                     look at it, as often as you like

Signals sent to execwire go to the command and everything in its process group. It stays until the
command has ended and its output was written, however slow the reader is. A job that the command
detached on purpose (setsid, own output) outlives it when the command ends by itself; a timeout, or
three signals to a command that does not end, reach it too.

With --json stdout gets one line when it is over: {"exitCode", "signal", "timedOut", "stdout": {"text",
"totalBytes", "omittedBytes", ...}, "stderr", "aggregated", "durationMs", "drain", ...}. Of each stream the
first and the last 512 KiB are kept. The exit code is the same as without. A job that still holds its output
when nothing has come for 2 s after its end is ended too; so it is with --quiet. When it cannot be started
there is no line, but an error as ever.

With --remote, --detach or --url it runs on a server: with the server's HOME, PATH and the like plus
what --env says, not with your environment; in your directory if the server is the local one, else in
the server's. A lost connection is made again and nothing is lost; when it stays lost, the server
ends the command after a while, unless it was started with --detach.`;
