// `execwire write`: writes to the stdin of a process of a server.
import type { Command } from "commander";
import type { WriteStatus } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { findProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

interface WriteOptions extends ServerOptions {
  readonly newline?: boolean;
  readonly eof?: boolean;
}

const REFUSALS: Record<Exclude<WriteStatus, "accepted">, string> = {
  stdinClosed: "does not accept input: it was started without -i or -t, its stdin was closed, or it has ended",
  starting: "is not running yet; try again",
  unknownProcess: "is no longer known",
};

/** Defines the arguments and options of `write`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to write to, as `execwire ps` shows it")
      .argument("[text]", "text to write, unchanged (default: all of stdin)")
      .option("-n, --newline", "add a newline after the text")
      .option("--eof", "close the process's stdin afterwards")
      .addHelpText("after", HELP)
      .action((id: string, text: string | undefined, options: WriteOptions) =>
        withServer(options, async (backend) => {
          const child = await findProcess(backend, id);
          if (text !== undefined) await send(child, `${text}${options.newline ? "\n" : ""}`);
          // With --eof and a terminal, the user wants to close stdin, not to type first.
          else if (!(options.eof && process.stdin.isTTY)) await sendStdin(child);
          if (options.eof) check(child, await child.closeStdin());
        }),
      ),
  );
}

async function sendStdin(child: Process): Promise<void> {
  for await (const chunk of process.stdin) await send(child, chunk as Buffer);
}

async function send(child: Process, chunk: Uint8Array | string): Promise<void> {
  check(child, await child.write(chunk));
}

function check({ id }: Process, status: WriteStatus): void {
  if (status !== "accepted") throw new Error(`process ${id} ${REFUSALS[status]}`);
}

const HELP = `
The process must have been started with -i or -t. Returns when the server has accepted the input.

Examples:
  execwire write -n shell 'make test'     one line
  execwire write dump --eof < backup.sql  a whole file, then end of input
  execwire write shell $'\\x03'            Ctrl-C, for a process with a terminal`;
