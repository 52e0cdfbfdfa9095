// `execwire ps`: the processes of a server.
import type { Command } from "commander";
import type { ProcessInfo } from "../../../protocol/index.ts";
import { withServer } from "../open-server.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { write } from "../output.ts";
import { detailLines, lookAt } from "../process-details.ts";
import { printable, printableJson, table } from "../table.ts";

interface PsOptions extends ServerOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Says what `ps` takes. */
export function define(command: Command): void {
  addServerOptions(
    command
      .option(
        "-v, --verbose",
        "also what each does or waits for, who keeps it from closing, where and since when it runs",
      )
      .option("--json", "everything that is known of each, as one JSON array")
      .addHelpText("after", HELP)
      .action((options: PsOptions) =>
        withServer(options, async (backend) => {
          const processes = await backend.list();
          const shown = options.verbose ? await lookAt(backend, processes) : processes;
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

/** A duration in its largest unit. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const HELP = `
A closed process is listed until the server forgets it (80 s after its end unless the server says
otherwise). EXIT is its exit code, or the signal that ended it. Of a long command the server keeps
the beginning (… at its end; argvOmitted in --json says how much is left out). On a terminal an ID
of more than 40 columns is cut, --json has it whole.

With -v, lines under each process say more:
  activity  what it does at this moment, and which of its descendants that is:
              running               uses the CPU
              reading-stdin         waits for input: give it some with execwire write
              polling-stdin         waits for input, or for something else
              stopped               continues with: execwire signal ID CONT
              waiting-for-children  waits for that one, which only sleeps
              waiting-for-io        waits for a disk or a network file system
              sleeping              waits for something else, or it cannot be told
  held by   who still has a stream of an exited process open, which keeps it from being closed:
            end them with execwire stop --scope tree ID, or wait
  cwd       its working directory
  started   when, in local time
Activity and holders are known for processes on Linux; who belongs to another user is not shown.

Examples:
  execwire ps
  execwire ps -v
  execwire ps --json | jq -r '.[] | select(.state == "running").processId'
  execwire ps -v --json | jq -r '.[] | select(.activity.state == "reading-stdin").processId'`;
