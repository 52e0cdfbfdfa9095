// `execwire run`: runs one command, locally or on a server, and passes it through. No output is lost, however slow our reader is
// (attach/reader-deadline.ts has the exceptions);
// signals sent to us reach the command's whole process group.
import { closeSync } from "node:fs";
import { isatty } from "node:tty";
import { type Command, Option } from "commander";
import { type ProcessSpec, present } from "../../../protocol/index.ts";
import type { Link } from "../../client/link.ts";
import { ExecwireError } from "../../errors.ts";
import type { Backend } from "../../process/backend.ts";
import type { SpawnerName } from "../../spawn/load-spawner.ts";
import { passSignalsOn, startState } from "../../spawn/start-state.ts";
import { ALL_SIGNALS, holdSignals } from "../attach/forward-signals.ts";
import { isInBackground } from "../attach/job-control.ts";
import { passThrough } from "../attach/pass-through.ts";
import { terminalSize } from "../attach/terminal.ts";
import { NetworkReport } from "../network-report.ts";
import {
  absoluteDirectory,
  addServerOptions,
  collectPairs,
  milliseconds,
  parseSeconds,
  type ServerOptions,
  spawnerOption,
} from "../options.ts";
import { write } from "../output.ts";
import { sayStray, UsageError } from "../report.ts";
import { addSandboxOptions, SANDBOX_HELP, type SandboxOptions, sandboxPolicy } from "../sandbox-options.ts";

/** Options of `run`, as the command line parses them. */
interface RunOptions extends ServerOptions, SandboxOptions {
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

/** Where the command runs. */
interface Target {
  readonly backend: Backend;
  /** On this machine, so that our working directory exists there. */
  readonly isLocal: boolean;
  readonly link?: Link;
}

/** Defines the arguments and options of `run`. */
export function define(command: Command): void {
  command
    .argument("<command>", "program to run; put -- before it, so that its options are not parsed here")
    .argument("[args...]", "arguments of the program")
    .option("-t, --tty", "run it in a terminal (with yours in raw mode, and of the same size)")
    .option("-i, --interactive", "pass stdin on (implied by -t on a terminal)")
    .option("--timeout <seconds>", "after this time, end it with everything it started; exit code 124", parseSeconds)
    .option("--grace <seconds>", "time from SIGTERM to SIGKILL (a server uses its own)", parseSeconds)
    .option("-e, --env <name=value>", "set an environment variable; may be repeated", collectPairs, {})
    .option("-C, --cwd <directory>", "working directory; with --url an absolute path on the server's machine")
    .option("--id <id>", "process id to use (default: a new uuid)")
    .option("-l, --label <name=value>", "add a label; may be repeated", collectPairs, {})
    .addOption(spawnerOption())
    .addOption(
      new Option("--json", "print the result as one line of JSON instead of the output").conflicts(["quiet", "detach"]),
    )
    .addOption(new Option("-q, --quiet", "print no output; only the exit code remains").conflicts("detach"))
    .option("--remote", "run it on the server started by `execwire serve`, not in this program")
    .option("-d, --detach", "print its id and leave it running on the server (implies --remote)")
    .passThroughOptions()
    .addHelpText("after", HELP)
    .action(async (program: string, args: string[], options: RunOptions) => {
      process.exitCode = await run([program, ...args], options);
    });
  addSandboxOptions(command);
  addServerOptions(command);
}

async function run(argv: readonly string[], options: RunOptions): Promise<number> {
  const isRemote = options.remote || options.detach || options.url !== undefined;
  if (isRemote && (options.grace !== undefined || options.spawner)) {
    throw new UsageError("--grace and --spawner cannot be used with a server: pass them to execwire serve");
  }
  const target = await (isRemote ? openRemote(options) : openLocal(options));
  try {
    // Descriptors lead out of a sandbox.
    const isIsolated = isRemote || options.sandbox !== undefined;
    // In the background a terminal is forwarded, which stops us until we may read it: the command would read it at once.
    const isReadable = !isatty(0) || !isInBackground();
    const isPassed = !isIsolated && !options.tty && options.interactive === true && isReadable;
    const isInteractive = !isPassed && (options.interactive || (options.tty && isatty(0)) || false);
    const spec = specOf(argv, options, { isRemote, isInteractive, isLocal: target.isLocal });
    if (!isRemote) holdSignals();
    const inheritFds = isIsolated ? [] : [...(isPassed ? [0] : []), ...startState().fds];
    const begin = (fds: readonly number[]) => passOutput(target, { ...spec, inheritFds: fds }, isInteractive, options);
    return await begin(inheritFds).catch((error: unknown) => {
      // A terminal of the portable spawner.
      if (error instanceof ExecwireError && error.data.what === "inheritFds") return begin([]);
      throw error;
    });
  } finally {
    await target.backend.close();
  }
}

/** Runs the command; returns our exit code. */
async function passOutput(
  target: Target,
  spec: ProcessSpec,
  isInteractive: boolean,
  options: RunOptions,
): Promise<number> {
  if (options.json || options.quiet) {
    const { runCaptured } = await import("../attach/run-captured.ts");
    return await runCaptured(target.backend, spec, {
      json: options.json,
      stdin: isInteractive,
      link: target.link,
      ...milliseconds("graceMs", options.grace),
    });
  }
  const began = performance.now();
  const network = new NetworkReport(spec);
  const child = await target.backend.start(spec, options.detach ? {} : network.controller);
  // What is left of the timeout, which its host measures from the start.
  const timeoutMs = spec.timeoutMs && Math.max(1, spec.timeoutMs - (performance.now() - began));
  // The other end of a pipe must notice when the command closes its own.
  for (const fd of spec.inheritFds ?? []) if (fd > 2) closeSync(fd);
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
    link: target.link,
    timeoutMs,
    ...milliseconds("graceMs", options.grace),
  });
  network.finish();
  return code ?? 0;
}

async function openLocal({ spawner, grace }: RunOptions): Promise<Target> {
  passSignalsOn();
  const [{ createSupervisor }, { hasProc }] = await Promise.all([
    import("../../local/supervisor.ts"),
    import("../../spawn/proc/proc.ts"),
  ]);
  const options = present({
    subreaper: true,
    onSupervisorDeath: hasProc() ? ("kill" as const) : ("keep" as const),
    limits: milliseconds("graceMs", grace),
    onError: sayStray,
    spawner,
  });
  return { backend: createSupervisor(options), isLocal: true };
}

async function openRemote(options: RunOptions): Promise<Target> {
  const { openServer } = await import("../server/open-server.ts");
  const { backend, isLocal } = await openServer(options);
  return { backend, isLocal, link: backend.link };
}

function specOf(
  argv: readonly string[],
  options: RunOptions,
  { isRemote, isInteractive, isLocal }: { isRemote: boolean; isInteractive: boolean; isLocal: boolean },
): ProcessSpec {
  const { TERM } = process.env;
  // A local command stays in our directory, which may have been removed. A sandbox is made for a directory with a name.
  const isNamed = options.cwd !== undefined || options.sandbox !== undefined || isRemote;
  const cwd = isLocal && isNamed ? absoluteDirectory(options.cwd) : options.cwd;
  return present({
    argv,
    processId: options.id,
    cwd,
    // Our environment stays here, except TERM: it describes our own terminal.
    env: present({ TERM: (isRemote && options.tty && TERM) || undefined, ...options.env }),
    envPolicy: isRemote ? { inherit: "core" as const } : { inherit: "all" as const, ignoreDefaultExcludes: true },
    sandbox: sandboxPolicy(options, cwd),
    pipeStdin: isInteractive,
    tty: options.tty ? terminalSize(process.stdout) : undefined,
    ...milliseconds("timeoutMs", options.timeout || undefined),
    onDetach: options.detach ? ("keep" as const) : undefined,
    labels: options.label,
  });
}

const HELP = `
Exit code:
  the command's; 128+n if signal n ended it (also execwire: 129 if your terminal was closed, 141 if
  the reader of the output is gone); 124 timeout; 126 cannot be executed; 127 not found;
  125 execwire itself failed; 2 wrong usage; 69 no server, or the connection is lost for good;
  77 the server refused the token

Examples:
  execwire run -- sh -c 'echo out; echo err >&2; exit 3'    two streams, exit code 3
  execwire run --timeout 10 -- make test                    ended with its descendants after 10 s
  execwire run -t -- bash                                   an interactive shell
  execwire run --json -- make test                          the result, for a program to read
  echo hello | execwire run -i -- cat                       forward stdin
  execwire run -d --id build -- make                        on the server started by execwire serve,
  execwire attach build                                     and watch it, as often as you like

The command sees what it would see without execwire: arguments, environment and descriptors byte for
byte, limits, ignored signals, and your directory, also one that was removed. It does not see your
terminal as /dev/tty, unless -t gives it one: it leads a session of its own. ulimit -x shows a number
by which its descendants are known. Its stdin is /dev/null without -i. With -i it is yours, and what
the command does not read is left for the next program, except with -t, in a sandbox and on a server,
for which execwire reads ahead.

Signals sent to execwire go to the command's process group. Ctrl-Z stops both, and fg and bg continue
both. execwire exits when the command has ended and all its output is written, however slow the
reader is. But once a timeout or a signal has asked for the end, a reader that stands still for the
grace time is given up, and a signal after the command's end gives it up at once; a line on stderr
reports it. A job that the command detached on
purpose (setsid, own output) outlives a command that exits normally. A timeout ends such a job too,
and so does the third signal to a command that does not end.
${SANDBOX_HELP}

With --json, stdout gets one line when the command has ended: {"exitCode", "signal", "timedOut",
"stdout": {"text", "totalBytes", "omittedBytes", ...}, "stderr", "aggregated", "durationMs",
"drain", ...}. The first and the last 512 KiB of each stream are kept. The exit code is the same as
without --json. A background job that still holds the output is ended once nothing was printed for
2 s after the command's exit; the same with --quiet. If the command cannot be started, there is no
line on stdout, only the usual error.

With --remote, --detach or --url the command runs on a server. Its environment has the server's
HOME, PATH and the like and the variables of --env, not your environment. It runs in your directory
if the server is the local one, else in the server's. If the connection is lost, execwire reconnects
and no output is lost; if it stays lost, the server ends the command after a while, unless it was
started with --detach.`;
