// `execwire stop`: terminates a process of a server and waits for its exit.
import type { Command } from "commander";
import { lastValueFrom } from "rxjs";
import { type KillScope, present } from "../../../protocol/index.ts";
import { addScopeOption, addServerOptions, milliseconds, parseSeconds, type ServerOptions } from "../options.ts";
import { note } from "../report.ts";
import { withServer } from "../server/open-server.ts";

interface StopOptions extends ServerOptions {
  readonly grace?: number;
  readonly scope?: KillScope;
}

/** Defines the arguments and options of `stop`. */
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
          else note(`process ${id} had already ended`);
        }),
      ),
  );
}

const HELP = `
Sends SIGTERM, waits for the grace period (5 s unless configured on the server), sends SIGKILL.
Returns when the process has ended.

Examples:
  execwire stop build
  execwire stop --grace 0 --scope tree build   kill at once, with all its descendants, daemons too`;
