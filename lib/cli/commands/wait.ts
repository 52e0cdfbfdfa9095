// `execwire wait`: waits for the exit of a process of a server.
import type { Command } from "commander";
import { lastValueFrom } from "rxjs";
import { exitCodeOf } from "../exit-code.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { withServer } from "../server/open-server.ts";

/** Defines the arguments and options of `wait`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id>", "process to wait for, as `execwire ps` shows it")
      .addHelpText("after", HELP)
      .action(async (id: string, options: ServerOptions) => {
        process.exitCode = await withServer(options, async (backend) => {
          const child = await backend.attach(id);
          return exitCodeOf(await lastValueFrom(child.exit$));
        });
      }),
  );
}

const HELP = `
Prints nothing; the exit code is the process's (128+n if signal n ended it, 124 after its timeout).
Returns at once if the process has ended and the server still lists it.

Example:
  id=$(execwire run -d -- make) && execwire wait "$id" && echo built`;
