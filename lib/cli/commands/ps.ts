// `execwire ps`: lists the processes of a server.
import type { Command } from "commander";
import type { ProcessInfo } from "../../../protocol/index.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { write } from "../output.ts";
import { detailLines, inspectAll } from "../process-details.ts";
import { withServer } from "../server/open-server.ts";
import { printable, printableJson, table } from "../table.ts";

interface PsOptions extends ServerOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Defines the options of `ps`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .option("-v, --verbose", "also show activity, stream holders, working directory and start time of each process")
      .option("--json", "print all that is known of each process, as one JSON array")
      .addHelpText("after", HELP)
      .action((options: PsOptions) =>
        withServer(options, async (backend) => {
          const processes = await backend.list();
          const shown = options.verbose ? await inspectAll(backend, processes) : processes;
          await write("stdout", options.json ? `${printableJson(shown, 2)}\n` : tableOf(shown, options));
        }),
      ),
  );
}

const HEAD = ["ID", "STATE", "EXIT", "PID", "AGE", "COMMAND"];

function tableOf(processes: readonly ProcessInfo[], { verbose }: PsOptions): string {
  const now = Date.now();
  const rows = processes.map(({ processId, state, exitCode, signal, pid, startedAt, argv, argvOmitted }) => [
    processId,
    state,
    `${signal ?? exitCode ?? ""}`,
    `${pid ?? ""}`,
    age(now - startedAt),
    argvOmitted ? `${argv.join(" ")}…` : argv.join(" "),
  ]);
  const { isTTY, columns } = process.stdout;
  const details = verbose ? processes.map((process) => detailLines(process).map(printable)) : [];
  return table([HEAD, ...rows.map((row) => row.map(printable))], isTTY ? columns : undefined, [[], ...details]);
}

/** A duration in its largest unit, such as `5m`. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const HELP = `
A closed process is listed until the server removes it (80 s after its end by default). EXIT is its
exit code, or the signal that ended it. The server keeps only the beginning of a long command line
(it then ends with …; argvOmitted in --json counts the rest). On a terminal, an ID of more than 40
columns is shortened; --json has all of it.

With -v, each process has these lines:
  activity  what it does now, and which descendant does it:
              running               uses the CPU
              reading-stdin         waits for input: send some with execwire write
              polling-stdin         waits for input, or for something else
              stopped               to continue it: execwire signal ID CONT
              waiting-for-children  waits for the child shown, which sleeps
              waiting-for-io        waits for a disk or a network file system
              sleeping              waits for something else, or for something unknown
  held by   a process that still has a stream of an exited process open, so that it is not closed:
            end it with execwire stop --scope tree ID, or wait
  cwd       its working directory
  started   its start time, in local time
Activity and holders are known on Linux only; holders of other users are not shown.

Examples:
  execwire ps
  execwire ps -v
  execwire ps --json | jq -r '.[] | select(.state == "running").processId'
  execwire ps -v --json | jq -r '.[] | select(.activity.state == "reading-stdin").processId'`;
