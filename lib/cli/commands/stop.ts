// `execwire stop`: asks a process of a server to end, and makes sure of it.
import type { Command } from "commander";
import { lastValueFrom } from "rxjs";
import { type KillScope, present } from "../../../protocol/index.ts";
import { withServer } from "../open-server.ts";
import { addScopeOption, addServerOptions, milliseconds, parseSeconds, type ServerOptions } from "../options.ts";
import { note } from "../report.ts";

interface StopOptions extends ServerOptions {
  readonly grace?: number;
  readonly scope?: KillScope;
}

/** Says what `stop` takes. */
export function define(command: Command): void {
  addServerOptions(
    addScopeOption(command)
      .argument("<id>", "process to end, as `execwire ps` shows it")
      .option("--grace <seconds>", "time from SIGTERM to SIGKILL; 0 kills at once", parseSeconds)
      .addHelpText("after", HELP)
      .action((id: string, { grace, scope, ...options }: StopOptions) =>
        withServer(options, async (backend) => {
          const child = await backend.attach(id);
          const { running } = await child.terminate(present({ ...milliseconds("graceMs", grace), scope }));
          if (running) await lastValueFrom(child.exit$);
          else note(`process ${id} had ended already`);
        }),
      ),
  );
}

const HELP = `
SIGTERM, the grace (5 s unless the server says otherwise), SIGKILL. Done when the process has ended.

Examples:
  execwire stop build
  execwire stop --grace 0 --scope tree build   at once, with everything it started, daemons too`;
