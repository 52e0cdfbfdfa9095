// `execwire signal`: sends one signal to processes of a server.
import type { Command } from "commander";
import type { KillScope, SignalName } from "../../../protocol/index.ts";
import { addScopeOption, addServerOptions, parseSignal, type ServerOptions } from "../options.ts";
import { note, UsageError } from "../report.ts";
import { forEachProcess } from "../server/find-process.ts";
import { withServer } from "../server/open-server.ts";

/** Defines the arguments and options of `signal`. */
export function define(command: Command): void {
  addServerOptions(
    addScopeOption(command)
      .usage("[options] <id...> <signal>")
      .argument("<id...>", "processes to signal, as `execwire ps` shows them, and last the signal: INT, SIGINT or 2")
      .addHelpText("after", HELP)
      .action(async (names: readonly string[], options: ServerOptions & { readonly scope?: KillScope }) => {
        const ids = names.slice(0, -1);
        if (ids.length === 0) throw new UsageError("the signal is missing: execwire signal <id...> <signal>");
        const signal = signalOf(names.at(-1) as string);
        const codes = await withServer(options, (backend) =>
          forEachProcess(backend, ids, async (child) => {
            await child.signal(signal, options.scope ? { scope: options.scope } : {});
            const { id, info } = child;
            if (info.state !== "running") note(`process ${id} is ${info.state}; nothing was signalled`);
          }),
        );
        process.exitCode = codes.find((code) => code !== 0) ?? 0;
      }),
  );
}

function signalOf(name: string): SignalName {
  try {
    return parseSignal(name);
  } catch (error) {
    throw new UsageError(`${name} is no signal. ${(error as Error).message}`);
  }
}

const HELP = `
An id may be shortened to a beginning that no other id has.

Examples:
  execwire signal build INT
  execwire signal web worker HUP
  execwire signal server HUP --scope process   not to its child processes`;
