// `execwire wait`: waits for the exits of processes of a server.
import type { Command } from "commander";
import { lastValueFrom } from "rxjs";
import { exitCodeOf } from "../exit-code.ts";
import { addServerOptions, type ServerOptions } from "../options.ts";
import { forEachProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

/** Defines the arguments and options of `wait`. */
export function define(command: Command): void {
  addServerOptions(
    command
      .argument("<id...>", "processes to wait for, as `execwire ps` shows them")
      .addHelpText("after", HELP)
      .action(async (ids: readonly string[], options: ServerOptions) => {
        const codes = await withServer(options, (backend) =>
          forEachProcess(backend, ids, async (child) => exitCodeOf(await lastValueFrom(child.exit$))),
        );
        process.exitCode = codes.at(-1) ?? 0;
      }),
  );
}

const HELP = `
Prints nothing; the exit code is the process's (128+n if signal n ended it, 124 after its timeout),
with several processes that of the last one named. Returns at once if they have ended and the server
still lists them. An id may be shortened to a beginning that no other id has.

Example:
  id=$(execwire run -d -- make) && execwire wait "$id" && echo built`;
