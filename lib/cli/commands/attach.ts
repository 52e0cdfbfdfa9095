// `execwire attach`: attaches to a process of a server and replays its retained output.
import type { Command } from "commander";
import type { Seq } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { ENDING_SIGNALS } from "../attach/forward-signals.ts";
import { passThrough } from "../attach/pass-through.ts";
import { resizeTo } from "../attach/terminal.ts";
import { addServerOptions, parseSeq, type ServerOptions } from "../options.ts";
import { note } from "../report.ts";
import { findProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

interface AttachOptions extends ServerOptions {
  readonly afterSeq: number;
  readonly readOnly?: boolean;
}

/** Defines the arguments and options of `attach`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to attach to, as `execwire ps` shows it")
      .option("--after-seq <n>", "replay only what follows this event", parseSeq, 0)
      .option("--read-only", "only watch: forward no input and no signals")
      .addHelpText("after", HELP)
      .action(async (id: string, options: AttachOptions) => {
        process.exitCode = await attach(id, options);
      }),
  );
}

function attach(id: string, options: AttachOptions): Promise<number> {
  return withServer(options, async (backend) => {
    const child = await findProcess(backend, id);
    const { info } = child;
    const ended = info.state === "exited" || info.state === "closed";
    const stdin = info.stdin && !ended && !options.readOnly;
    const terminal = info.tty && stdin && process.stdin.isTTY && process.stdout.isTTY;
    if (terminal) resizeTo(child, process.stdout);
    const code = await passThrough(child, {
      // A viewer must not slow the process.
      delivery: "gap",
      afterSeq: options.afterSeq,
      terminal,
      stdin,
      // The end of a pipe into one viewer is not the end of the process's input; Ctrl-D at a terminal is deliberate.
      passEnd: process.stdin.isTTY,
      signals: options.readOnly ? [] : ENDING_SIGNALS,
      detachable: terminal,
      link: backend.link,
      // Without its own input, a terminal's answers go to the user's shell: then nothing may ask it.
      replayEnd: stdin && process.stdin.isTTY ? await headOf(child) : Number.MAX_SAFE_INTEGER,
    });
    if (code === undefined) note(`detached, the process keeps running; to return: execwire attach ${id}`);
    return code ?? 0;
  });
}

/** The seq of the last event up to now. */
async function headOf(child: Process): Promise<Seq> {
  return (await child.read({ afterSeq: Number.MAX_SAFE_INTEGER })).nextSeq - 1;
}

const HELP = `
Prints the retained output of the process (a line on stderr reports older output that is lost), then
its live output until it ends; the exit code is the process's. A process that reads stdin (run -i or
-t) gets yours; the end of a pipe is not forwarded (execwire write --eof closes stdin). Ctrl-C and
SIGTERM go to the process; the third one kills it with everything it started.

On a terminal, Ctrl-P Ctrl-Q detaches and leaves the process running, and so does closing the
terminal. Modes that the process has set are ended when you leave. Questions to the terminal (its
colours, the cursor's position) are removed from the replay, since the answer would be typed into the
process; the terminal answers what the process asks from then on, as does each other one attached.

Examples:
  execwire run -d -t --id shell -- bash     a shell on the server
  execwire attach shell                     use it; Ctrl-P Ctrl-Q leaves it running
  execwire attach --read-only shell         watch another user of the shell`;
