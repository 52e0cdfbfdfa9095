// `execwire logs`: what a process has printed, as far as it is retained.
import type { Command } from "commander";
import type { Seq } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { withServer } from "../open-server.ts";
import { addServerOptions, parseSeq, type ServerOptions } from "../options.ts";
import { writeAll, writeEvent } from "../output.ts";

interface LogsOptions extends ServerOptions {
  readonly follow?: boolean;
  readonly afterSeq: number;
}

/** A page is asked for when the one before is written: a slow reader loses nothing of a process that is silent. */
const PAGE_BYTES = 256 * 1024;

/** Says what `logs` takes. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to read, as `execwire ps` shows it")
      .option("-f, --follow", "go on with what it prints, until it ends")
      .option("--after-seq <n>", "only what follows this event", parseSeq, 0)
      .addHelpText("after", HELP)
      .action((id: string, options: LogsOptions) =>
        withServer(options, async (backend) => {
          const child = await backend.attach(id);
          const afterSeq = await writeRetained(child, options.afterSeq);
          if (options.follow) await writeAll(child, { delivery: "gap", afterSeq });
        }),
      ),
  );
}

/** Writes what is retained at this moment; the seq up to which that is. */
async function writeRetained(child: Process, afterSeq: Seq): Promise<Seq> {
  const { nextSeq } = await child.read({ afterSeq: Number.MAX_SAFE_INTEGER });
  const head = nextSeq - 1;
  let seq = afterSeq;
  while (seq < head) {
    const page = await child.read({ afterSeq: seq, maxBytes: PAGE_BYTES });
    if (page.gap) await writeEvent(page.gap);
    for (const event of page.chunks) if (event.seq <= head) await writeEvent(event);
    const last = page.chunks.at(-1);
    if (!last) break;
    seq = last.seq;
  }
  return Math.max(afterSeq, head);
}

const HELP = `
stdout and stderr of the process go to yours. A process keeps its last output in memory (1 MiB unless
the server says otherwise); a line on stderr tells what is no longer there.

Examples:
  execwire logs build                 what it has printed
  execwire logs -f build | grep error
  execwire logs --after-seq 120 build`;
