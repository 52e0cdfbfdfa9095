// `execwire signal`: sends one signal to a process of a server.
import type { Command } from "commander";
import type { KillScope, SignalName } from "../../../protocol/index.ts";
import { addScopeOption, addServerOptions, parseSignal, type ServerOptions } from "../options.ts";
import { note } from "../report.ts";
import { withServer } from "../server/open-server.ts";

/** Defines the arguments and options of `signal`. */
export function define(command: Command): void {
  addServerOptions(
    addScopeOption(command)
      .argument("<id>", "process to signal, as `execwire ps` shows it")
      .argument("<signal>", "INT, SIGINT or 2", parseSignal)
      .addHelpText("after", HELP)
      .action((id: string, signal: SignalName, options: ServerOptions & { readonly scope?: KillScope }) =>
        withServer(options, async (backend) => {
          const child = await backend.attach(id);
          await child.signal(signal, options.scope ? { scope: options.scope } : {});
          if (child.info.state !== "running") note(`process ${id} is ${child.info.state}; nothing was signalled`);
        }),
      ),
  );
}

const HELP = `
Examples:
  execwire signal build INT
  execwire signal server HUP --scope process   not to its child processes`;
