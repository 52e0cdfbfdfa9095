// `execwire logs`: prints the retained output of a process.
import type { Command } from "commander";
import type { Delivery, Seq } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { Screen } from "../attach/screen.ts";
import { guardTerminal } from "../attach/terminal.ts";
import { addServerOptions, parseSeq, type ServerOptions } from "../options.ts";
import { writeAll, writeEvent } from "../output.ts";
import { findProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

interface LogsOptions extends ServerOptions {
  readonly follow?: boolean;
  readonly afterSeq: number;
}

/** Each page is requested after the previous one is written, so a slow reader loses nothing if the process prints no more. */
const PAGE_BYTES = 256 * 1024;

/** Defines the arguments and options of `logs`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to read, as `execwire ps` shows it")
      .option("-f, --follow", "keep printing new output until the process ends")
      .option("--after-seq <n>", "print only what follows this event", parseSeq, 0)
      .addHelpText("after", HELP)
      .action((id: string, options: LogsOptions) =>
        withServer(options, async (backend) => {
          const child = await findProcess(backend, id);
          const screen = process.stdout.isTTY ? new Screen(Number.MAX_SAFE_INTEGER) : undefined;
          const restore = screen && guardTerminal(screen);
          const through = (event: Delivery) => screen?.show(event) ?? event;
          try {
            const afterSeq = await writeRetained(child, options.afterSeq, through);
            if (options.follow) await writeAll(child, { delivery: "gap", afterSeq, watchReader: true, through });
          } finally {
            await restore?.();
          }
        }),
      ),
  );
}

/** Writes the output that is retained now; returns the seq of its last event. */
async function writeRetained(child: Process, afterSeq: Seq, through: (event: Delivery) => Delivery): Promise<Seq> {
  const { nextSeq } = await child.read({ afterSeq: Number.MAX_SAFE_INTEGER });
  const head = nextSeq - 1;
  let seq = afterSeq;
  while (seq < head) {
    const page = await child.read({ afterSeq: seq, maxBytes: PAGE_BYTES });
    if (page.gap) await writeEvent(page.gap);
    for (const event of page.chunks) if (event.seq <= head) await writeEvent(through(event));
    const last = page.chunks.at(-1);
    if (!last) break;
    seq = last.seq;
  }
  return Math.max(afterSeq, head);
}

const HELP = `
The process's stdout and stderr go to yours. The server keeps the last output of each process in
memory (1 MiB by default); a line on stderr reports output that is no longer there.

Examples:
  execwire logs build                 all retained output
  execwire logs -f build | grep error
  execwire logs --after-seq 120 build`;
