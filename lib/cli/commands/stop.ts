// `execwire stop`: terminates processes of a server and waits for their exits.
import type { Command } from "commander";
import { lastValueFrom } from "rxjs";
import { type KillScope, present } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { addScopeOption, addServerOptions, milliseconds, parseSeconds, type ServerOptions } from "../options.ts";
import { note } from "../report.ts";
import { forEachProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

interface StopOptions extends ServerOptions {
  readonly grace?: number;
  readonly scope?: KillScope;
}

/** Defines the arguments and options of `stop`. */
export function define(command: Command): void {
  addServerOptions(
    addScopeOption(command)
      .argument("<id...>", "processes to end, as `execwire ps` shows them")
      .option("--grace <seconds>", "time from SIGTERM to SIGKILL; 0 kills at once", parseSeconds)
      .addHelpText("after", HELP)
      .action(async (ids: readonly string[], { grace, scope, ...options }: StopOptions) => {
        const codes = await withServer(options, (backend) =>
          forEachProcess(backend, ids, async (child) => {
            const { running } = await child.terminate(present({ ...milliseconds("graceMs", grace), scope }));
            if (running) await lastValueFrom(child.exit$);
            else note(await describeEnded(child));
          }),
        );
        process.exitCode = codes.find((code) => code !== 0) ?? 0;
      }),
  );
}

/** A process that has ended may have left others, which hold its streams. */
async function describeEnded(child: Process): Promise<string> {
  const ended = `process ${child.id} had already ended`;
  const holders = child.info.state === "exited" ? await child.holders().catch(() => []) : [];
  if (holders.length === 0) return ended;
  const list = holders.map(({ pid, command }) => `${pid} (${command})`).join(", ");
  return `${ended}; left, with its streams open: ${list}; end them with: execwire stop --scope tree ${child.id}`;
}

const HELP = `
Sends SIGTERM, waits for the grace period (5 s unless configured on the server), sends SIGKILL.
Returns when the processes have ended. An id may be shortened to a beginning that no other id has.

Examples:
  execwire stop build test
  execwire stop --grace 0 --scope tree build   kill at once, with all its descendants, daemons too`;
