// `execwire ps`: the processes of a server.
import type { Command } from "commander";
import type { ProcessInfo } from "../../../protocol/index.ts";
import { withServer } from "../open-server.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { write } from "../output.ts";
import { printable, table } from "../table.ts";

/** Says what `ps` takes. */
export function define(command: Command): void {
  addServerOptions(
    command
      .option("--json", "everything that is known of each, as one JSON array")
      .addHelpText("after", HELP)
      .action((options: ServerOptions & { readonly json?: boolean }) =>
        withServer(options, async (backend) => {
          const processes = await backend.list();
          await write("stdout", options.json ? `${JSON.stringify(processes, null, 2)}\n` : tableOf(processes));
        }),
      ),
  );
}

const HEAD = ["ID", "STATE", "EXIT", "PID", "AGE", "COMMAND"];

function tableOf(processes: readonly ProcessInfo[]): string {
  const now = Date.now();
  const rows = processes.map(({ processId, state, exitCode, signal, pid, startedAt, argv }) => [
    processId,
    state,
    `${signal ?? exitCode ?? ""}`,
    `${pid ?? ""}`,
    age(now - startedAt),
    argv.join(" "),
  ]);
  const { isTTY, columns } = process.stdout;
  return table([HEAD, ...rows.map((row) => row.map(printable))], isTTY ? columns : undefined);
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
otherwise). EXIT is its exit code, or the signal that ended it.

Examples:
  execwire ps
  execwire ps --json | jq -r '.[] | select(.state == "running").processId'`;
