// `execwire attach`: joins a process of a server, with all that is retained of its past.
import type { Command } from "commander";
import { ENDING_SIGNALS } from "../forward-signals.ts";
import { withServer } from "../open-server.ts";
import { addServerOptions, parseSeq, type ServerOptions } from "../options.ts";
import { passThrough } from "../pass-through.ts";
import { note } from "../report.ts";
import { resizeTo } from "../terminal.ts";

interface AttachOptions extends ServerOptions {
  readonly afterSeq: number;
  readonly readOnly?: boolean;
}

/** Says what `attach` takes. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to join, as `execwire ps` shows it")
      .option("--after-seq <n>", "replay only what follows this event", parseSeq, 0)
      .option("--read-only", "only look: pass no input and no signals on")
      .addHelpText("after", HELP)
      .action(async (id: string, options: AttachOptions) => {
        process.exitCode = await attach(id, options);
      }),
  );
}

function attach(id: string, options: AttachOptions): Promise<number> {
  return withServer(options, async (backend) => {
    const child = await backend.attach(id);
    const { info } = child;
    const ended = info.state === "exited" || info.state === "closed";
    const stdin = info.stdin && !ended && !options.readOnly;
    const terminal = info.tty && stdin && process.stdin.isTTY && process.stdout.isTTY;
    if (terminal) resizeTo(child, process.stdout);
    const code = await passThrough(child, {
      // Somebody who looks on never slows a process.
      delivery: "gap",
      afterSeq: options.afterSeq,
      terminal,
      stdin,
      // The end of a pipe into one viewer is not the end of the process's input; Ctrl-D is meant.
      passEnd: process.stdin.isTTY,
      signals: options.readOnly ? [] : ENDING_SIGNALS,
      detachable: terminal,
      link: backend.link,
    });
    if (code === undefined) note(`detached; the process goes on: execwire attach ${id}`);
    return code ?? 0;
  });
}

const HELP = `
Shows what the process has printed, as far as it is retained (a line on stderr tells what is not), then
what it prints, until it ends; the exit code is the process's. A process that reads stdin (run -i or
-t) gets yours; the end of a pipe is not passed on (execwire write --eof does that). Ctrl-C and
SIGTERM go to the process; three of them kill it with everything it started.

In a terminal, Ctrl-P Ctrl-Q detaches: the process goes on.

Examples:
  execwire run -d -t --id shell -- bash     a shell on the server
  execwire attach shell                     use it; Ctrl-P Ctrl-Q leaves it running
  execwire attach --read-only shell         watch somebody else use it`;
